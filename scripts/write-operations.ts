// The SDK's operations: one method for each operation of the OpenAPI document, in a form that makes a small bundle.

/** What is read of a document. */
interface Document {
  paths: Record<string, Record<string, OperationObject>>;
}

interface OperationObject {
  operationId: string;
  summary?: string;
  description?: string;
  parameters?: { in: string; required?: boolean }[];
  requestBody?: { required?: boolean };
  responses: Record<string, { content?: Record<string, unknown> }>;
}

/** The module that has the class of all operations. Streams of events are left out: a method gives a whole reply. */
export function writeOperations(document: Document, note: string): string {
  const found = Object.entries(document.paths).flatMap(([url, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ url, method, operation })),
  );
  const plain = found.filter(({ operation }) => !isStream(operation));
  const types = plain.flatMap(({ operation }) =>
    ["Data", "Responses"].map((part) => toTypeName(operation) + part),
  );
  return [
    note,
    "",
    'import { Operations, type Options, type Reply } from "../operations.ts";',
    `import type { ${types.sort().join(", ")} } from "./types.gen.ts";`,
    "",
    "export class TandemApi extends Operations {",
    plain.map(writeMethod).join("\n\n"),
    "}",
    "",
  ].join("\n");
}

function writeMethod({
  url,
  method,
  operation,
}: {
  url: string;
  method: string;
  operation: OperationObject;
}): string {
  const { operationId, summary, description, parameters = [], requestBody } = operation;
  const isNeeded = requestBody?.required || parameters.some(({ required }) => required);
  const type = toTypeName(operation);
  const comment = [summary, description].filter((text) => text !== undefined).join("\n\n");
  return [
    "    /**",
    ...comment.split("\n").map((line) => `     * ${line}`.trimEnd()),
    "     */",
    `    ${operationId}(options${isNeeded ? "" : "?"}: Options<${type}Data>): Promise<Reply<${type}Responses>> {`,
    `        return this.request("${method.toUpperCase()}", "${url}", options);`,
    "    }",
  ].join("\n");
}

function isStream({ responses }: OperationObject): boolean {
  return Object.values(responses).some(({ content }) => content?.["text/event-stream"] !== undefined);
}

function toTypeName({ operationId }: OperationObject): string {
  return operationId.charAt(0).toUpperCase() + operationId.slice(1);
}
