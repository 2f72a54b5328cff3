// A model request as a stream. What comes of it is the same as without: only its text is told while it comes.
import {
  APICallError,
  type LanguageModelV3,
  type LanguageModelV3CallOptions,
  type LanguageModelV3GenerateResult,
} from "@ai-sdk/provider";
import { brokenOff, collectStream } from "./collect-stream.ts";

/**
 * Asks a model for a stream, and where there is none for a whole reply.
 *
 * @param onText told of each piece of text, in order
 * @throws what `doGenerate` throws for the same fault
 */
export async function streamReply(
  model: LanguageModelV3,
  options: LanguageModelV3CallOptions,
  onText: (delta: string) => void,
): Promise<LanguageModelV3GenerateResult> {
  const streamed = await Promise.resolve(model.doStream(options)).catch((error: unknown) => {
    if (isRefusedStream(error)) return null;
    throw error;
  });
  if (streamed === null) return model.doGenerate(options);
  const type = streamed.response?.headers?.["content-type"];
  if (type !== undefined && !type.startsWith("text/event-stream")) {
    streamed.stream.cancel().catch(() => undefined);
    return model.doGenerate(options);
  }
  try {
    return await collectStream(streamed.stream, onText);
  } catch (error) {
    // A package tells of a connection that broke by the status of the reply's beginning.
    const isBroken = APICallError.isInstance(error) && error.statusCode === 200;
    throw isBroken ? brokenOff(error.cause) : error;
  }
}

/**
 * True when the request was refused because of its stream: some servers know none, and OpenAI has models that not every
 * organization may stream.
 */
function isRefusedStream(error: unknown): boolean {
  if (!APICallError.isInstance(error)) return false;
  const isRefused = error.statusCode === 400 || error.statusCode === 403 || error.statusCode === 422;
  return isRefused && /\bstream/i.test(`${error.message} ${error.responseBody ?? ""}`);
}
