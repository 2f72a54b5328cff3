// The commands that look at and change what a server has: sessions, agents, keys.
import { SESSION_STATUSES } from "@tandem/engine/domain/session-state";
import { type Command, Option } from "commander";
import type { CreateOptions } from "./commands/keys.ts";
import type { ListOptions } from "./commands/sessions.ts";
import type { ServerOptions } from "./connect.ts";
import type { Finish } from "./program.ts";
import { act, addExamples, addJsonFlag, addServerFlags, gather, wholeNumber } from "./program-flags.ts";

/** The most items that the API puts on a page. */
const LARGEST_PAGE = 100;

type JsonOption = ServerOptions & { json?: boolean };

export function addSessions(program: Command, finish: Finish): void {
  const sessions = program.command("sessions").description("look at sessions, and steer them");
  const load = () => import("./commands/sessions.ts");

  addExamples(
    sessions,
    "tandem sessions list --status running idle",
    "tandem sessions cancel 01a22994-…",
    'tandem sessions message 01a22994-… "And in Rome?"',
  );
  const list = sessions
    .command("list")
    .description("the newest sessions")
    .addOption(new Option("--status <status...>", "any of these states").choices(SESSION_STATUSES))
    .option("--agent <name>", "any of these agents; may be repeated", gather)
    .option("--search <text>", "text in the first message or the answer")
    .option("--limit <n>", "how many", wholeNumber(1, LARGEST_PAGE), 20);
  addServerFlags(addJsonFlag(list));
  addExamples(
    list,
    "tandem sessions list",
    "tandem sessions list --status running idle --limit 50",
    "tandem sessions list --json | jq -r '.items[].id'",
  );
  act(list, finish, async (options: ListOptions) => (await load()).listSessions(options));

  const get = sessions.command("get").description("one session").argument("<session>", "the session's id");
  addExamples(
    addServerFlags(addJsonFlag(get)),
    "tandem sessions get 01a22994-…",
    "tandem sessions get 01a22994-… --json",
  );
  act(get, finish, async (options: JsonOption, id: string) => (await load()).getSession(id, options));

  const cancel = sessions
    .command("cancel")
    .description("cancel sessions")
    .argument("<session...>", "the sessions' ids");
  addExamples(addServerFlags(cancel), "tandem sessions cancel 01a22994-…");
  act(cancel, finish, async (options: ServerOptions, ids: string[]) =>
    (await load()).cancelSessions(ids, options),
  );

  const message = sessions
    .command("message")
    .description("send a message; a session that has ended starts again")
    .argument("<session>", "the session's id")
    .argument("<text>", "the message");
  addExamples(addServerFlags(message), 'tandem sessions message 01a22994-… "And in Rome?"');
  act(message, finish, async (options: ServerOptions, id: string, text: string) =>
    (await load()).sendMessage(id, text, options),
  );
}

export function addAgents(program: Command, finish: Finish): void {
  const agents = program.command("agents").description("the agents that are stored on the server");
  const load = () => import("./commands/agents.ts");

  addExamples(
    agents,
    "tandem agents list",
    "tandem agents get tandem/assistant",
    "tandem agents create support.json",
  );
  const list = agents
    .command("list")
    .description("the agents")
    .option("--search <text>", "text in the name or the description")
    .option("--limit <n>", "how many", wholeNumber(1, LARGEST_PAGE), LARGEST_PAGE);
  addExamples(addServerFlags(addJsonFlag(list)), "tandem agents list", "tandem agents list --search support");
  act(list, finish, async (options: JsonOption & { limit: number }) => (await load()).listAgents(options));

  const get = agents.command("get").description("one agent, as JSON").argument("<name>", "the agent's name");
  addExamples(
    addServerFlags(get),
    "tandem agents get tandem/assistant",
    "tandem agents get support > support.json",
  );
  act(get, finish, async (options: ServerOptions, name: string) => (await load()).getAgent(name, options));

  const create = agents
    .command("create")
    .description("store an agent")
    .argument("<file>", "its definition, a JSON file; - is standard input");
  addExamples(
    addServerFlags(create),
    "tandem agents create support.json",
    `echo '{"name": "support", "instructions": "Be brief."}' | tandem agents create -`,
  );
  act(create, finish, async (options: ServerOptions, file: string) =>
    (await load()).createAgent(file, options),
  );

  const update = agents
    .command("update")
    .description("change fields of an agent; the others stay")
    .argument("<name>", "the agent's name")
    .argument("<file>", "the fields, a JSON file; - is standard input");
  addExamples(
    addServerFlags(update),
    `echo '{"instructions": "Be brief."}' | tandem agents update support -`,
  );
  act(update, finish, async (options: ServerOptions, name: string, file: string) =>
    (await load()).updateAgent(name, file, options),
  );

  const remove = agents
    .command("delete")
    .description("delete an agent")
    .argument("<name>", "the agent's name");
  addExamples(addServerFlags(remove), "tandem agents delete support");
  act(remove, finish, async (options: ServerOptions, name: string) =>
    (await load()).deleteAgent(name, options),
  );
}

export function addKeys(program: Command, finish: Finish): void {
  const keys = program
    .command("keys")
    .description(
      "API keys: on the database of DATABASE_URL or of the stack here, or of a named server with an admin key",
    );
  const load = () => import("./commands/keys.ts");

  addExamples(
    keys,
    "tandem keys create --org acme --user ann",
    "tandem keys list",
    "tandem keys revoke 01a22994-…",
  );
  const create = keys
    .command("create")
    .description("make a key; it alone is printed on standard output")
    .requiredOption("--org <name>", "the organization; it is made when it is new")
    .option("--name <name>", "what lists call it")
    .option("--user <name>", "whose sessions they are")
    .option("--expires <days>", "days until it ends", wholeNumber(1))
    .option("--admin", "it manages the keys of every organization");
  addExamples(
    addServerFlags(create),
    "tandem keys create --org acme --user ann --expires 90",
    "export TANDEM_API_KEY=$(tandem keys create --org acme)",
    "tandem keys create --org acme --base-url https://agents.example --api-key $ADMIN",
  );
  act(create, finish, async (options: CreateOptions) => (await load()).createKey(options));

  const list = keys
    .command("list")
    .description("the keys, without their secrets")
    .option("--org <name>", "of this organization alone");
  addExamples(addServerFlags(addJsonFlag(list)), "tandem keys list", "tandem keys list --org acme --json");
  act(list, finish, async (options: JsonOption & { org?: string }) => (await load()).listKeys(options));

  const revoke = keys
    .command("revoke")
    .description("revoke keys for good")
    .argument("<id...>", "the keys' ids, as `list` has them");
  addExamples(addServerFlags(revoke), "tandem keys revoke 01a22994-…");
  act(revoke, finish, async (options: ServerOptions, ids: string[]) =>
    (await load()).revokeKeys(ids, options),
  );
}
