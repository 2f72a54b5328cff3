import { checkTools } from "@tandem/engine/domain/check-tools";
import type { ApiContext, App } from "../../context.ts";
import { compileFragment } from "../../plugins/validation.ts";
import { errorsOfBody } from "../../schemas/errors.ts";
import { ToolChecks, ToolsToCheck, toToolCheck } from "../../schemas/tool-checks.ts";
import { ToolDefinition } from "../../schemas/tool-definitions.ts";
import { ref } from "../../schemas/typebox.ts";
import { chooseModel } from "../../session-request/resolve-request.ts";

/** `POST /tools/check`: says what would become of tools, without making anything. */
export function checkToolsRoute(app: App, { models }: ApiContext): void {
  const findFormFault = compileFragment(ref(ToolDefinition));
  app.route({
    method: "POST",
    url: "/api/v2/tools/check",
    schema: {
      operationId: "checkTools",
      tags: ["tools"],
      summary: "Check tool definitions",
      description:
        "Says for each tool whether a session with this model would take it, why not, and what the model's provider is " +
        "told when that is not the schema as it was sent. 422 only for an unknown model, or a list that is too long.",
      body: ref(ToolsToCheck),
      response: { 200: ref(ToolChecks), ...errorsOfBody() },
    },
    async handler(request) {
      const { model, tools } = request.body;
      const chosen = chooseModel(model, ["body", "model"], models);
      return { items: checkTools(tools, chosen, (tool) => findFormFault(tool, [])).map(toToolCheck) };
    },
  });
}
