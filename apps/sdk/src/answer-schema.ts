// `answerSchema`: what the server is told of it, and the check of the answer.
import { AnswerValidationError } from "./errors.ts";
import type { JsonSchema } from "./schemas/json-schema.ts";
import { readSchema } from "./schemas/read-schema.ts";
import type { ToolSchema } from "./schemas/tool-schema.ts";
import { validate } from "./schemas/validate.ts";
import type { SessionResult } from "./session-result.ts";

/**
 * The JSON Schema of an answer schema.
 *
 * @throws {TandemError} when it cannot be written as one, with the place
 */
export function toAnswerFormat(schema: ToolSchema): JsonSchema {
  return { title: "Answer", ...readSchema(schema, { place: "answerSchema" }).inputSchema };
}

/**
 * The result with its answer checked and transformed. A plain JSON Schema was checked by the server.
 *
 * @throws {AnswerValidationError} when the answer does not fit
 */
export async function withParsedAnswer<Answer>(
  result: SessionResult<Answer>,
  schema: ToolSchema | undefined,
): Promise<SessionResult<Answer>> {
  if (!schema || result.answer === null) return result;
  const parsed = await validate(schema, result.answer);
  if (parsed.issues) throw new AnswerValidationError(result, parsed.issues);
  return { ...result, answer: parsed.value as Answer };
}
