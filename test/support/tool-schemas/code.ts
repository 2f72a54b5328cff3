// File systems, shells and git hosts.
import { objectOf, only, text, toolSchema } from "./tool-schema.ts";

const repository = { owner: text("Who owns the repository"), repo: text("Its name") };
const paging = {
  page: { type: "number", description: "Page, from 1", minimum: 1 },
  perPage: { type: "number", description: "Results of a page", minimum: 1, maximum: 100 },
};

export const codeSchemas = [
  toolSchema(
    "read_file",
    objectOf({ path: text("Where the file is"), head: { type: "number" }, tail: { type: "number" } }, "path"),
    { path: "/etc/hosts" },
    { path: "a.txt", head: 10 },
  ),
  toolSchema(
    "read_many_files",
    {
      type: "object",
      properties: { paths: { type: "array", items: { type: "string" }, minItems: 1 } },
      required: ["paths"],
      additionalProperties: false,
      $schema: "http://json-schema.org/draft-07/schema#",
    },
    { paths: ["a", "b"] },
  ),
  toolSchema("write_file", only({ path: text("Where"), content: text("What") }, "path", "content"), {
    path: "a",
    content: "",
  }),
  toolSchema(
    "edit_file",
    only(
      {
        path: { type: "string" },
        edits: {
          type: "array",
          items: only({ oldText: text("Found as it is"), newText: text("Put there") }, "oldText", "newText"),
        },
        dryRun: { type: "boolean", default: false, description: "Show the difference only" },
      },
      "path",
      "edits",
    ),
    { path: "a", edits: [{ oldText: "x", newText: "y" }], dryRun: true },
  ),
  toolSchema("list_allowed_folders", { type: "object", properties: {}, required: [] }, {}),
  toolSchema("list_everything", { type: "object" }, {}, { any: [1] }),
  toolSchema(
    "search_files",
    objectOf(
      {
        path: { type: "string" },
        pattern: { type: "string" },
        excludePatterns: { type: "array", items: { type: "string" }, default: [] },
      },
      "path",
      "pattern",
    ),
    { path: ".", pattern: "*.ts", excludePatterns: ["dist"] },
  ),
  toolSchema(
    "run_command",
    objectOf(
      {
        command: { type: "string", minLength: 1 },
        timeout_ms: { type: "integer", exclusiveMinimum: 0, maximum: 600_000 },
        env: { type: "object", additionalProperties: { type: "string" } },
      },
      "command",
    ),
    { command: "ls", timeout_ms: 1_000, env: { A: "b" } },
  ),
  toolSchema(
    "create_issue",
    objectOf(
      {
        ...repository,
        title: { type: "string" },
        body: { type: "string" },
        labels: { type: "array", items: { type: "string" } },
        assignees: { type: "array", items: { type: "string" } },
        milestone: { type: "number" },
      },
      "owner",
      "repo",
      "title",
    ),
    { owner: "a", repo: "b", title: "c", labels: ["bug"] },
  ),
  toolSchema(
    "list_issues",
    objectOf(
      {
        ...repository,
        ...paging,
        state: { type: "string", enum: ["open", "closed", "all"] },
        since: { type: "string", format: "date-time" },
        direction: { enum: ["asc", "desc"] },
      },
      "owner",
      "repo",
    ),
    { owner: "a", repo: "b", state: "all", since: "2026-01-01T00:00:00Z", direction: "asc", page: 2 },
  ),
  toolSchema(
    "push_files",
    objectOf(
      {
        ...repository,
        branch: { type: "string" },
        files: {
          type: "array",
          items: objectOf({ path: { type: "string" }, content: { type: "string" } }, "path", "content"),
        },
        message: { type: "string" },
      },
      ...["owner", "repo", "branch", "files", "message"],
    ),
    { owner: "a", repo: "b", branch: "main", files: [{ path: "x", content: "y" }], message: "m" },
  ),
  toolSchema(
    "create_review",
    objectOf(
      {
        ...repository,
        pull_number: { type: "integer" },
        event: { type: "string", enum: ["APPROVE", "REQUEST_CHANGES", "COMMENT"] },
        comments: {
          type: "array",
          items: {
            anyOf: [
              objectOf(
                { path: { type: "string" }, position: { type: "number" }, body: { type: "string" } },
                "path",
                "position",
                "body",
              ),
              objectOf(
                { path: { type: "string" }, line: { type: "number" }, body: { type: "string" } },
                "path",
                "line",
                "body",
              ),
            ],
          },
        },
      },
      ...["owner", "repo", "pull_number", "event"],
    ),
    {
      owner: "a",
      repo: "b",
      pull_number: 3,
      event: "COMMENT",
      comments: [{ path: "p", line: 4, body: "b" }],
    },
  ),
  toolSchema(
    "merge_request_update",
    objectOf(
      {
        project_id: { type: ["string", "number"], description: "Number, or path" },
        state_event: { type: ["string", "null"], enum: ["close", "reopen", null] },
        squash: { type: ["boolean", "null"] },
        reviewer_ids: { type: ["array", "null"], items: { type: "integer" } },
      },
      "project_id",
    ),
    { project_id: 5, state_event: null, squash: null, reviewer_ids: null },
    { project_id: "a/b", state_event: "close", reviewer_ids: [1] },
  ),
  toolSchema(
    "git_log",
    objectOf({
      revision: { type: "string", pattern: "^[0-9a-f]{7,40}$" },
      max_count: { type: "integer", default: 10, minimum: 1 },
      format: { type: "string", const: "oneline" },
    }),
    { revision: "0123abc", max_count: 1, format: "oneline" },
  ),
  toolSchema(
    "trigger_workflow",
    objectOf(
      {
        ref: text("A branch, or a tag"),
        inputs: { type: "object", description: "Inputs of the workflow", properties: {} },
      },
      "ref",
    ),
    { ref: "main", inputs: { level: "debug" } },
  ),
  toolSchema(
    "search_code",
    {
      type: "object",
      properties: { q: { type: "string" }, symbol: { type: "string" } },
      anyOf: [{ required: ["q"] }, { required: ["symbol"] }],
    },
    { q: "x" },
    { symbol: "f" },
  ),
];
