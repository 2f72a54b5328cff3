// `answerSchema`: what the server is told of it, and the check of the answer.
import { AnswerValidationError } from "./errors.ts";
import type { JsonSchema } from "./schemas/json-schema.ts";
import { readSchema } from "./schemas/read-schema.ts";
import {
  isStandardSchema,
  isZodThree,
  type SchemaIssue,
  type StandardSchema,
  type ZodThreeSchema,
} from "./schemas/standard-schema.ts";
import type { SessionResult } from "./session-result.ts";

/**
 * What describes an answer: a JSON Schema, or a schema of Zod or another Standard Schema library, whose type the answer
 * then has.
 */
export type AnswerSchema<Answer> = StandardSchema<never, Answer> | ZodThreeSchema<never, Answer> | JsonSchema;

/**
 * The JSON Schema of an answer schema.
 *
 * @throws {TandemError} when it cannot be written as one, with the place
 */
export function toAnswerFormat(schema: object): JsonSchema {
  return {
    title: "Answer",
    ...readSchema(schema, { place: "answerSchema" }).inputSchema,
  };
}

/**
 * The result with its answer checked and transformed. A plain JSON Schema was checked by the server.
 *
 * @throws {AnswerValidationError} when the answer does not fit
 */
export async function withParsedAnswer<Answer>(
  result: SessionResult<Answer>,
  schema: object | undefined,
): Promise<SessionResult<Answer>> {
  if (!schema || result.answer === null) return result;
  const parsed = await parse(schema, result.answer);
  if (parsed.issues) throw new AnswerValidationError(result, parsed.issues);
  return { ...result, answer: parsed.value as Answer };
}

async function parse(
  schema: object,
  answer: unknown,
): Promise<{ value: unknown; issues?: undefined } | { issues: readonly SchemaIssue[] }> {
  if (isStandardSchema(schema) && schema["~standard"].validate) return schema["~standard"].validate(answer);
  if (!isZodThree(schema)) return { value: answer };
  const parsed = await schema.safeParseAsync(answer);
  return parsed.success ? { value: parsed.data } : { issues: parsed.error.issues };
}
