import type {
  LanguageModelV3CallOptions,
  LanguageModelV3FunctionTool,
  LanguageModelV3Prompt,
  LanguageModelV3StreamPart,
} from "@ai-sdk/provider";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDemoKeywordModel } from "../../apps/worker/src/models/demo-keyword/model.ts";

const model = createDemoKeywordModel();

type Schema = LanguageModelV3FunctionTool["inputSchema"];

const toTool = (name: string, description: string, inputSchema: unknown): LanguageModelV3FunctionTool => ({
  type: "function",
  name,
  description,
  inputSchema: inputSchema as Schema,
});

const object = (
  properties: Record<string, unknown>,
  required = Object.keys(properties),
  extra: object = {},
) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
  ...extra,
});

const string = { type: "string" };
const number = { type: "number" };

const tools = {
  weather: toTool("get_weather", "Get the current weather for a city", object({ city: string })),
  weatherUnit: toTool(
    "get_weather",
    "Get the current weather",
    object({ location: string, unit: { type: "string", enum: ["celsius", "fahrenheit"] } }, ["location"]),
  ),
  orderStatus: toTool("get_order_status", "Look up the status of an order", object({ order_id: string })),
  cancelOrder: toTool("cancel_order", "Cancel an order", object({ order_id: string })),
  add: toTool("add", "Add two numbers", object({ a: number, b: number })),
  subtract: toTool("subtract", "Subtract b from a", object({ a: number, b: number })),
  multiply: toTool("multiply", "Multiply two numbers", object({ a: number, b: number })),
  sum: toTool("sum", "Adds up numbers", object({ numbers: { type: "array", items: number } })),
  currency: toTool(
    "convert_currency",
    "Convert an amount between currencies",
    object({
      amount: number,
      from: { type: "string", pattern: "^[A-Z]{3}$" },
      to: { type: "string", pattern: "^[A-Z]{3}$" },
    }),
  ),
  search: toTool("search", "Search the web", object({ query: string })),
  email: toTool(
    "send_email",
    "Send an email",
    object({ to: { type: "string", format: "email" }, subject: string, body: string }, [
      "to",
      "subject",
      "body",
    ]),
  ),
  listFiles: toTool("list_files", "List the files in the workspace", { type: "object", properties: {} }),
  ticket: toTool(
    "create_ticket",
    "Create a support ticket",
    object({
      title: string,
      priority: { type: "string", enum: ["low", "medium", "high"] },
      labels: { type: "array", items: string },
    }),
  ),
  table: toTool(
    "book_table",
    "Reserve a table at the restaurant",
    object({
      date: { type: "string", format: "date" },
      time: string,
      party_size: { type: "integer", minimum: 1, maximum: 20 },
    }),
  ),
  todo: toTool("add_todo", "Add an item to the todo list", object({ title: string })),
  translate: toTool(
    "translate_text",
    "Translate text to a language",
    object({ text: string, target_language: string }),
  ),
  reminder: toTool("set_reminder", "Set a reminder", object({ text: string, when: string })),
  flights: toTool(
    "search_flights",
    "Find flights",
    object(
      {
        from: string,
        to: string,
        date: { type: "string", format: "date" },
        passengers: { type: "integer", default: 1 },
      },
      ["from", "to", "date"],
    ),
  ),
  customer: toTool(
    "find_customer",
    "Find a customer by e-mail",
    object({ email: { type: "string", format: "email" } }),
  ),
  ship: toTool(
    "ship_parcel",
    "Ship a parcel to an address",
    object({
      parcel_id: { type: "string", pattern: "^P-\\d+$" },
      address: object({ street: string, city: string, zip: string }, ["city"]),
      express: { type: "boolean" },
    }),
  ),
  readFile: toTool("read_file", "Read a file", object({ path: string })),
  fetchUrl: toTool("fetch_page", "Fetch a web page", object({ url: { type: "string", format: "uri" } })),
  user: toTool("get_user", "Get a user by id", object({ id: { type: "string", format: "uuid" } })),
  meeting: toTool(
    "schedule_meeting",
    "Schedule a meeting",
    object({
      title: string,
      start: { type: "string", format: "date-time" },
      attendees: { type: "array", items: { type: "string", format: "email" } },
    }),
  ),
  stock: toTool(
    "get_stock_price",
    "Get the price of a stock",
    object({ symbol: { type: "string", examples: ["AAPL"] } }),
  ),
  lights: toTool(
    "set_lights",
    "Turn the lights on or off",
    object({ room: string, on: { type: "boolean" } }),
  ),
};

const user = (text: string): LanguageModelV3Prompt[number] => ({
  role: "user",
  content: [{ type: "text", text }],
});

const called = (toolName: string, input: object, id = "c1"): LanguageModelV3Prompt[number] => ({
  role: "assistant",
  content: [{ type: "tool-call", toolCallId: id, toolName, input }],
});

const returned = (toolName: string, value: unknown, id = "c1"): LanguageModelV3Prompt[number] => ({
  role: "tool",
  content: [
    {
      type: "tool-result",
      toolCallId: id,
      toolName,
      output: typeof value === "string" ? { type: "text", value } : { type: "json", value: value as never },
    },
  ],
});

const failed = (toolName: string, value: string, id = "c1"): LanguageModelV3Prompt[number] => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId: id, toolName, output: { type: "error-text", value } }],
});

async function streamed(prompt: LanguageModelV3Prompt): Promise<LanguageModelV3StreamPart[]> {
  const { stream } = await model.doStream({ prompt, tools: [tools.weather] });
  const parts: LanguageModelV3StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

async function turn(
  prompt: string | LanguageModelV3Prompt,
  offered: LanguageModelV3FunctionTool[],
  options: Partial<LanguageModelV3CallOptions> = {},
) {
  const messages = typeof prompt === "string" ? [user(prompt)] : prompt;
  const { content, finishReason } = await model.doGenerate({ prompt: messages, tools: offered, ...options });
  const calls = content.flatMap((part) => (part.type === "tool-call" ? [part] : []));
  for (const call of calls) expectValid(offered, call.toolName, JSON.parse(call.input));
  return {
    text: content.map((part) => (part.type === "text" ? part.text : "")).join(""),
    calls: calls.map((call): [string, unknown] => [call.toolName, JSON.parse(call.input)]),
    ids: calls.map((call) => call.toolCallId),
    finish: finishReason.unified,
  };
}

function expectValid(offered: LanguageModelV3FunctionTool[], name: string, args: unknown): void {
  const schema = offered.find((candidate) => candidate.name === name)?.inputSchema;
  const { $schema: _dialect, ...rest } = (schema ?? {}) as Record<string, unknown>;
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const validate = ajv.compile(rest);
  expect(validate(args), `${name} ${JSON.stringify(args)}: ${ajv.errorsText(validate.errors)}`).toBe(true);
}

type Call = [toolName: string, args: unknown];
type Case = [message: string, tools: LanguageModelV3FunctionTool[], ...calls: Call[]];

const all = Object.entries(tools)
  .filter(([key]) => key !== "weatherUnit")
  .map(([, each]) => each);

const { weather, weatherUnit, orderStatus, cancelOrder, add, subtract, multiply, currency, search, email } =
  tools;
const { listFiles, ticket, table, todo, reminder, flights, customer, ship, readFile, fetchUrl } = tools;
const { meeting, stock, lights, sum } = tools;

describe("picks the tool that fits and fills its arguments", () => {
  const cases: Case[] = [
    ["What's the weather in Paris?", [weather], ["get_weather", { city: "Paris" }]],
    ["weather paris", [weather], ["get_weather", { city: "paris" }]],
    ["how is the weather in new york today?", [weather], ["get_weather", { city: "new york" }]],
    ["Is it raining in São Paulo right now?", [weather, search], ["get_weather", { city: "São Paulo" }]],
    ["Do I need an umbrella in London tomorrow?", all, ["get_weather", { city: "London" }]],
    ["Weather in San Francisco, CA", [weatherUnit], ["get_weather", { location: "San Francisco, CA" }]],
    [
      "What is the temperature in Oslo in Celsius?",
      [weatherUnit],
      ["get_weather", { location: "Oslo", unit: "celsius" }],
    ],
    ["Where is my order A-1001?", all, ["get_order_status", { order_id: "A-1001" }]],
    ["What is the status of order 1001?", all, ["get_order_status", { order_id: "1001" }]],
    ["Has parcel #4711 shipped yet?", [orderStatus], ["get_order_status", { order_id: "4711" }]],
    ["please cancel order ORD_55", all, ["cancel_order", { order_id: "ORD_55" }]],
    ["Add 2 and 3", all, ["add", { a: 2, b: 3 }]],
    ["What is 2+3?", [add], ["add", { a: 2, b: 3 }]],
    ["what is 12 plus 30.5", all, ["add", { a: 12, b: 30.5 }]],
    ["What is two plus three?", [add, subtract], ["add", { a: 2, b: 3 }]],
    ["What is 5 - 3?", [add, subtract, multiply], ["subtract", { a: 5, b: 3 }]],
    ["What is 6 * 7?", [add, subtract, multiply], ["multiply", { a: 6, b: 7 }]],
    ["add -4 and 1,000", [add], ["add", { a: -4, b: 1000 }]],
    ["Sum 1, 2, 3 and 4", [sum], ["sum", { numbers: [1, 2, 3, 4] }]],
    ["Convert 100 USD to EUR", all, ["convert_currency", { amount: 100, from: "USD", to: "EUR" }]],
    [
      "How many euros is 20 dollars?",
      [currency],
      ["convert_currency", { amount: 20, from: "USD", to: "EUR" }],
    ],
    ["convert $99.50 to yen", [currency], ["convert_currency", { amount: 99.5, from: "USD", to: "JPY" }]],
    ["Search for cheap flights to Rome", [search], ["search", { query: "cheap flights to Rome" }]],
    ["Who invented the telephone?", [search], ["search", { query: "Who invented the telephone?" }]],
    [
      "Please search the web for TypeScript tips.",
      [search, weather],
      ["search", { query: "TypeScript tips" }],
    ],
    [
      'Send an email to bob@example.com with subject "Lunch" and body "See you at noon"',
      all,
      ["send_email", { to: "bob@example.com", subject: "Lunch", body: "See you at noon" }],
    ],
    [
      "Email ann@example.com, subject: Report, body: The report is ready.",
      [email, search],
      ["send_email", { to: "ann@example.com", subject: "Report", body: "The report is ready." }],
    ],
    [
      "Write an email to ann@example.com about the budget saying we are on track",
      [email],
      ["send_email", { to: "ann@example.com", subject: "the budget", body: "we are on track" }],
    ],
    ["List my files", all, ["list_files", {}]],
    ["which files are there?", [listFiles, weather], ["list_files", {}]],
    [
      'Create a ticket "Login is broken" with high priority and labels bug and login',
      all,
      ["create_ticket", { title: "Login is broken", priority: "high", labels: ["bug", "login"] }],
    ],
    [
      "Open a ticket titled Page is slow with priority low, labels: ui, speed",
      [ticket],
      ["create_ticket", { title: "Page is slow", priority: "low", labels: ["ui", "speed"] }],
    ],
    [
      "Create a medium priority ticket: the printer is on fire",
      [ticket],
      ["create_ticket", { title: "the printer is on fire", priority: "medium", labels: [] }],
    ],
    [
      "Book a table on 2026-03-12 at 7pm for 4 people",
      all,
      ["book_table", { date: "2026-03-12", time: "19:00", party_size: 4 }],
    ],
    [
      "I need a table for two on March 12, 2026 at 19:30",
      [table, weather],
      ["book_table", { date: "2026-03-12", time: "19:30", party_size: 2 }],
    ],
    ["Add buy milk to my todo list", [todo], ["add_todo", { title: "buy milk" }]],
    [
      "Translate 'good morning' to French",
      all,
      ["translate_text", { text: "good morning", target_language: "French" }],
    ],
    ["Remind me tomorrow to call mum", [reminder], ["set_reminder", { text: "call mum", when: "tomorrow" }]],
    [
      "Find flights from Berlin to Rome on 2026-05-01",
      [flights, weather],
      ["search_flights", { from: "Berlin", to: "Rome", date: "2026-05-01" }],
    ],
    [
      "flights from berlin to rome on 1 May 2026 for 3 passengers",
      [flights],
      ["search_flights", { from: "berlin", to: "rome", date: "2026-05-01", passengers: 3 }],
    ],
    [
      "Which customer has the address eve@example.org?",
      [customer, weather],
      ["find_customer", { email: "eve@example.org" }],
    ],
    [
      "Ship parcel P-77 express to Hamburg, zip 20095",
      [ship],
      ["ship_parcel", { parcel_id: "P-77", address: { city: "Hamburg", zip: "20095" }, express: true }],
    ],
    [
      "ship parcel p-77 to Hamburg",
      [ship],
      ["ship_parcel", { parcel_id: "P-77", address: { city: "Hamburg" }, express: false }],
    ],
    ["Read the file src/main.ts", [readFile, listFiles], ["read_file", { path: "src/main.ts" }]],
    ["Read /etc/hosts", [readFile], ["read_file", { path: "/etc/hosts" }]],
    ["Fetch https://example.com/a?b=1.", [fetchUrl], ["fetch_page", { url: "https://example.com/a?b=1" }]],
    [
      "get user 3f2504e0-4f89-41d3-9a0c-0305e82c3301",
      all,
      ["get_user", { id: "3f2504e0-4f89-41d3-9a0c-0305e82c3301" }],
    ],
    [
      'Schedule a meeting called "Planning" on 2026-04-02 at 10:00 with a@x.org and b@x.org',
      [meeting],
      [
        "schedule_meeting",
        { title: "Planning", start: "2026-04-02T10:00:00Z", attendees: ["a@x.org", "b@x.org"] },
      ],
    ],
    ["What's the price of MSFT?", [stock, weather], ["get_stock_price", { symbol: "MSFT" }]],
    ["Turn on the lights in the kitchen", [lights], ["set_lights", { room: "kitchen", on: true }]],
    ["Turn off the lights in the kitchen", [lights], ["set_lights", { room: "kitchen", on: false }]],
  ];
  test.each(cases)("%s", async (message, offered, ...expected) => {
    const { calls, finish, text } = await turn(message, offered);
    expect(calls, text).toEqual(expected);
    expect(finish).toBe("tool-calls");
  });
});

describe("serves tools it has never seen", () => {
  const integer = { type: "integer" };
  const cases: Case[] = [
    [
      "Roll 3 dice with 12 sides",
      [toTool("roll_dice", "", object({ count: integer, sides: integer }))],
      ["roll_dice", { count: 3, sides: 12 }],
    ],
    [
      "Roll a die",
      [toTool("roll_dice", "Roll a die", object({ sides: { ...integer, default: 6 } }, []))],
      ["roll_dice", {}],
    ],
    [
      "Calculate 3 * (4 + 5)",
      [toTool("calculate", "", object({ expression: string }))],
      ["calculate", { expression: "3 * (4 + 5)" }],
    ],
    ["Who is user 42?", [toTool("getUser", "", object({ userId: integer }))], ["getUser", { userId: 42 }]],
    [
      "Play Bohemian Rhapsody by Queen",
      [toTool("play_song", "", object({ title: string, artist: string }))],
      ["play_song", { title: "Bohemian Rhapsody", artist: "Queen" }],
    ],
    [
      "Post 'Hello team' to #general",
      [toTool("post_message", "", object({ channel: string, text: string }))],
      ["post_message", { channel: "#general", text: "Hello team" }],
    ],
    [
      "Deploy version 1.4.2 to staging",
      [toTool("deploy", "", object({ version: string, environment: { enum: ["staging", "production"] } }))],
      ["deploy", { version: "1.4.2", environment: "staging" }],
    ],
    [
      "Restart the payments service",
      [toTool("restart_service", "", object({ service: string }))],
      ["restart_service", { service: "payments" }],
    ],
    [
      "Translate hello world into Spanish",
      [toTool("translate", "", object({ text: string, target_language: string }))],
      ["translate", { text: "hello world", target_language: "Spanish" }],
    ],
    [
      "Transfer $250 from checking to savings",
      [toTool("transfer_money", "", object({ amount: number, from_account: string, to_account: string }))],
      ["transfer_money", { amount: 250, from_account: "checking", to_account: "savings" }],
    ],
    [
      "Book a hotel in Rome from 2026-05-01 to 2026-05-04 for 2 guests",
      [
        toTool(
          "book_hotel",
          "",
          object({
            city: string,
            check_in: { type: "string", format: "date" },
            check_out: { type: "string", format: "date" },
            guests: integer,
          }),
        ),
      ],
      ["book_hotel", { city: "Rome", check_in: "2026-05-01", check_out: "2026-05-04", guests: 2 }],
    ],
    [
      "Convert 72 fahrenheit to celsius",
      [
        toTool(
          "convert_temperature",
          "",
          object({
            value: number,
            from_unit: { enum: ["celsius", "fahrenheit"] },
            to_unit: { enum: ["celsius", "fahrenheit"] },
          }),
        ),
      ],
      ["convert_temperature", { value: 72, from_unit: "fahrenheit", to_unit: "celsius" }],
    ],
    [
      "Mark task 12 as in progress",
      [
        toTool(
          "update_task",
          "",
          object({ task_id: integer, status: { enum: ["todo", "in_progress", "done"] } }),
        ),
      ],
      ["update_task", { task_id: 12, status: "in_progress" }],
    ],
    [
      "Compare the weather in Paris and London",
      [toTool("compare_weather", "", object({ city_a: string, city_b: string }))],
      ["compare_weather", { city_a: "Paris", city_b: "London" }],
    ],
    [
      "What does ephemeral mean?",
      [toTool("define_word", "Look up the meaning of a word", object({ word: string }))],
      ["define_word", { word: "ephemeral" }],
    ],
    [
      "Find movies with Tom Hanks from 1994",
      [toTool("search_movies", "", object({ actor: string, year: integer }, []))],
      ["search_movies", { actor: "Tom Hanks", year: 1994 }],
    ],
    [
      "Save a note: buy eggs and milk",
      [toTool("save_note", "", object({ text: string }))],
      ["save_note", { text: "buy eggs and milk" }],
    ],
    [
      "Generate a password of length 16 without symbols",
      [toTool("generate_password", "", object({ length: integer, symbols: { type: "boolean" } }))],
      ["generate_password", { length: 16, symbols: false }],
    ],
    ["Wie ist das Wetter in Berlin?", [weather], ["get_weather", { city: "Berlin" }]],
  ];
  test.each(cases)("%s", async (message, offered, ...expected) => {
    const { calls, text } = await turn(message, offered);
    expect(calls, text).toEqual(expected);
  });
});

describe("calls several tools in parallel", () => {
  const cases: Case[] = [
    [
      "What's the weather in Paris and in Rome?",
      all,
      ["get_weather", { city: "Paris" }],
      ["get_weather", { city: "Rome" }],
    ],
    [
      "Weather in Paris, Rome and New York",
      [weather],
      ...["Paris", "Rome", "New York"].map((city): Call => ["get_weather", { city }]),
    ],
    [
      "what is the weather in paris and rome?",
      [weather],
      ["get_weather", { city: "paris" }],
      ["get_weather", { city: "rome" }],
    ],
    [
      "Weather in Paris? And in Rome?",
      [weather],
      ["get_weather", { city: "Paris" }],
      ["get_weather", { city: "Rome" }],
    ],
    [
      "Get the weather in Paris and the weather in Oslo.",
      all,
      ["get_weather", { city: "Paris" }],
      ["get_weather", { city: "Oslo" }],
    ],
    [
      "Status of orders A-1, A-2 and A-3",
      all,
      ...["A-1", "A-2", "A-3"].map((order_id): Call => ["get_order_status", { order_id }]),
    ],
    [
      "What's the weather in Paris and where is order A-1001?",
      all,
      ["get_weather", { city: "Paris" }],
      ["get_order_status", { order_id: "A-1001" }],
    ],
    [
      "List my files. Then tell me the weather in Rome.",
      all,
      ["list_files", {}],
      ["get_weather", { city: "Rome" }],
    ],
    [
      "Convert 100 USD to EUR and GBP",
      [currency],
      ["convert_currency", { amount: 100, from: "USD", to: "EUR" }],
      ["convert_currency", { amount: 100, from: "USD", to: "GBP" }],
    ],
  ];
  test.each(cases)("%s", async (message, offered, ...expected) => {
    expect((await turn(message, offered)).calls).toEqual(expected);
  });
});

describe("asks in words for what is missing", () => {
  const cases: Array<[message: string, tools: LanguageModelV3FunctionTool[], text: string]> = [
    ["What's the weather?", [weather], "To use get_weather I need: city."],
    ["What's the weather like today?", all, "To use get_weather I need: city."],
    ["Where is my order?", all, "To use get_order_status I need: order_id."],
    ["Add 2", [add, weather], "To use add I need: b."],
    ["Book a table for 4 people tomorrow", all, "To use book_table I need: date, time."],
    ["Book a table for 40 people on 2026-03-12 at 19:00", all, "To use book_table I need: party_size."],
    ["Sum the numbers", [sum], "To use sum I need: numbers."],
    ["Add 2 and 12345678901234567890", [add], "To use add I need: b."],
  ];
  test.each(cases)("%s", async (message, offered, expected) => {
    const { calls, text, finish } = await turn(message, offered);
    expect(calls).toEqual([]);
    expect(text).toBe(expected);
    expect(finish).toBe("stop");
  });

  test("takes the reply to its question as the missing value", async () => {
    const prompt: LanguageModelV3Prompt = [
      user("What's the weather?"),
      { role: "assistant", content: [{ type: "text", text: "To use get_weather I need: city." }] },
      user("Lisbon"),
    ];
    expect((await turn(prompt, all)).calls).toEqual([["get_weather", { city: "Lisbon" }]]);
  });

  test("goes on with the last tool when the user follows up", async () => {
    const prompt = [
      user("Weather in Paris?"),
      called("get_weather", { city: "Paris" }),
      returned("get_weather", "sunny"),
      user("And in Rome?"),
    ];
    expect((await turn(prompt, all)).calls).toEqual([["get_weather", { city: "Rome" }]]);
  });
});

describe("says what it is when no tool fits", () => {
  test.each([["Hello"], ["Tell me a joke"], [""], ["thanks!"], ["\u0000\u0000"]])("%j", async (message) => {
    const { calls, text } = await turn(message, [weather, email]);
    expect(calls).toEqual([]);
    expect(text).toContain("I am demo/keyword, a demo model");
    expect(text).toContain("get_weather, send_email");
    expect(text).toContain("TANDEM_MODEL");
  });

  test("says so without tools", async () => {
    expect((await turn("Weather in Paris?", [])).text).toContain("no tools");
  });
});

describe("answers from results", () => {
  const cases: Array<[title: string, prompt: LanguageModelV3Prompt, text: string]> = [
    ["a string as it is", [returned("get_weather", "It is 18 °C and sunny.")], "It is 18 °C and sunny."],
    ["a number", [returned("add", 5)], "The result is 5."],
    [
      "one field as a sentence",
      [returned("get_order_status", { status: "shipped" })],
      "The status is shipped.",
    ],
    [
      "an object as a list, named after the call",
      [
        called("get_order_status", { order_id: "A-1" }),
        returned("get_order_status", { status: "shipped", deliveryDay: "Tuesday", gift: false }),
      ],
      "Here is what I found for A-1:\n- status: shipped\n- delivery day: Tuesday\n- gift: no",
    ],
    ["JSON text as an object", [returned("get_order_status", '{"status":"lost"}')], "The status is lost."],
    [
      "a number to its last digit",
      [returned("get_order_status", '{"id":12345678901234567890}')],
      "The id is 12345678901234567890.",
    ],
    [
      "an array as a list",
      [returned("list_files", ["a.txt", "b.txt"])],
      "Here is what list_files found:\n- a.txt\n- b.txt",
    ],
    ["an empty array", [returned("list_files", [])], "list_files found nothing."],
    ["null", [returned("send_email", null)], "Done: send_email ran without returning anything."],
    ["an error", [failed("get_weather", "no such city")], "get_weather failed: no such city"],
    [
      "several results of one tool, each named",
      [
        called("get_weather", { city: "Paris" }),
        returned("get_weather", { temperature: 18 }),
        called("get_weather", { city: "Rome" }, "c2"),
        returned("get_weather", "25 in Rome", "c2"),
      ],
      "- Paris: temperature: 18\n- 25 in Rome",
    ],
  ];
  test.each(cases)("%s", async (_title, prompt, expected) => {
    const { text, calls } = await turn([user("Tell me."), ...prompt], all);
    expect(calls).toEqual([]);
    expect(text).toBe(expected);
  });

  test("does not repeat a call that failed on its arguments", async () => {
    const prompt = [
      user("Weather in Paris?"),
      called("get_weather", { city: "Paris" }),
      failed("get_weather", "Invalid arguments: city"),
    ];
    const { calls, text } = await turn(prompt, all);
    expect(calls).toEqual([]);
    expect(text).toBe("get_weather failed: Invalid arguments: city");
  });

  test("calls the second tool with what the first one found", async () => {
    const find = toTool(
      "find_order",
      "Find the latest order of a customer",
      object({ email: { type: "string", format: "email" } }),
    );
    const message = user("Find the order of bob@example.com and cancel it");
    expect((await turn([message], [find, cancelOrder])).calls).toEqual([
      ["find_order", { email: "bob@example.com" }],
    ]);
    const prompt = [
      message,
      called("find_order", { email: "bob@example.com" }),
      returned("find_order", { order_id: "A-9" }),
    ];
    expect((await turn(prompt, [find, cancelOrder])).calls).toEqual([["cancel_order", { order_id: "A-9" }]]);
  });
});

describe("hands in structured answers", () => {
  const submit = (schema: object) => toTool("submit_answer", "Submit the final answer", schema);
  const weatherAnswer = submit(
    object({ city: string, temperature: number, sky: { enum: ["clear", "cloudy"] } }),
  );
  const asked = user("What's the weather in Paris?");
  const paris = [
    asked,
    called("get_weather", { city: "Paris" }),
    returned("get_weather", { temp: "18 °C", temperature: 18, sky: "Clear" }),
  ];

  test("calls the other tools first", async () => {
    expect((await turn([asked], [weather, weatherAnswer])).calls).toEqual([
      ["get_weather", { city: "Paris" }],
    ]);
  });

  test("fills the answer from results and the calls that led to them", async () => {
    const expected = { city: "Paris", temperature: 18, sky: "clear" };
    expect((await turn(paris, [weather, weatherAnswer])).calls).toEqual([["submit_answer", expected]]);
  });

  test("has one row for each result", async () => {
    const rows = submit(
      object({
        cities: { type: "array", items: object({ city: string, temperature: number }) },
        summary: string,
      }),
    );
    const prompt = [
      ...paris,
      called("get_weather", { city: "Rome" }, "c2"),
      returned("get_weather", { temperature: 25 }, "c2"),
    ];
    const { calls } = await turn(prompt, [weather, rows]);
    expect(calls[0]?.[1]).toMatchObject({
      cities: [
        { city: "Paris", temperature: 18 },
        { city: "Rome", temperature: 25 },
      ],
      summary: expect.stringContaining("Rome"),
    });
  });

  test("fills the answer from the message when there are no results", async () => {
    const sentiment = submit(
      object({
        sentiment: { enum: ["positive", "negative"] },
        score: { type: "integer", minimum: 1, maximum: 5 },
      }),
    );
    const { calls } = await turn("This is a positive review, I give it 4", [sentiment]);
    expect(calls).toEqual([["submit_answer", { sentiment: "positive", score: 4 }]]);
  });

  test("makes up a value that fits when nothing supplies one", async () => {
    const schema = object({
      code: { type: "string", pattern: "^[A-Z]{3}$" },
      when: { type: "string", format: "date-time" },
      n: { type: "integer", minimum: 10 },
    });
    const { calls } = await turn("Hello", [submit(schema)]);
    expect(calls).toHaveLength(1);
  });

  test("explains instead of handing in again what was refused", async () => {
    const prompt = [
      ...paris,
      called("submit_answer", {}, "c2"),
      failed("submit_answer", "city is missing", "c2"),
    ];
    const { calls, text } = await turn(prompt, [weather, weatherAnswer]);
    expect(calls).toEqual([]);
    expect(text).toContain("city is missing");
  });
});

describe("obeys the tool choice", () => {
  test("none is text only", async () => {
    expect((await turn("Weather in Paris?", [weather], { toolChoice: { type: "none" } })).calls).toEqual([]);
  });

  test("a named tool is called, with the message's values where it has them", async () => {
    const toolChoice = { type: "tool", toolName: "add" } as const;
    expect((await turn("7 and the weather in Paris", all, { toolChoice })).calls).toEqual([
      ["add", { a: 7, b: 0 }],
    ]);
  });

  test("required calls something", async () => {
    const { calls } = await turn("Hello", [weather, email], { toolChoice: { type: "required" } });
    expect(calls).toHaveLength(1);
  });

  test("required goes to submit_answer when the work is done", async () => {
    const submit = toTool("submit_answer", "", object({ answer: string }));
    const prompt = [
      user("Weather in Paris?"),
      called("get_weather", { city: "Paris" }),
      returned("get_weather", "sunny"),
    ];
    const { calls } = await turn(prompt, [weather, submit], { toolChoice: { type: "required" } });
    expect(calls).toEqual([["submit_answer", { answer: "sunny" }]]);
  });
});

describe("reads JSON Schema", () => {
  /** As `z.toJSONSchema` writes it. */
  const zodTool = (name: string, properties: Record<string, unknown>) =>
    toTool(
      name,
      "",
      object(properties, undefined, { $schema: "https://json-schema.org/draft/2020-12/schema" }),
    );

  const cases: Case[] = [
    [
      "Create a task called Water plants with priority 2",
      [
        zodTool("create_task", {
          title: string,
          priority: { type: "integer", minimum: 1, maximum: 5 },
          done: { default: false, type: "boolean" },
          note: { anyOf: [{ type: "string" }, { type: "null" }] },
        }),
      ],
      ["create_task", { title: "Water plants", priority: 2, done: false, note: null }],
    ],
    [
      "Pay 20 with card 4111",
      [
        zodTool("pay", {
          amount: number,
          method: {
            oneOf: [
              object({ type: { type: "string", const: "cash" } }),
              object({ type: { type: "string", const: "card" }, card_number: string }),
            ],
          },
        }),
      ],
      ["pay", { amount: 20, method: { type: "card", card_number: "4111" } }],
    ],
    [
      "Show the last 5 invoices",
      [
        toTool(
          "list_invoices",
          "List invoices",
          object({ limit: { type: ["integer", "null"] }, status: { enum: ["paid", "open", null] } }),
        ),
      ],
      ["list_invoices", { limit: 5, status: null }],
    ],
    [
      "Ship to Ulm",
      [
        toTool("ship", "Ship goods", {
          type: "object",
          properties: { destination: { $ref: "#/$defs/Address" }, version: { const: 2 } },
          required: ["destination", "version"],
          $defs: {
            Address: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
          },
        }),
      ],
      ["ship", { destination: { city: "Ulm" }, version: 2 }],
    ],
    [
      "Order 2 apples and 3 pears",
      [
        toTool(
          "order_items",
          "Order items",
          object({
            items: {
              type: "array",
              minItems: 1,
              items: object({ product: string, quantity: { type: "integer" } }),
            },
          }),
        ),
      ],
      [
        "order_items",
        {
          items: [
            { product: "apples", quantity: 2 },
            { product: "pears", quantity: 3 },
          ],
        },
      ],
    ],
    [
      "Convert 10 km to miles",
      [
        toTool(
          "convert_units",
          "Convert between units",
          object({ value: number, from_unit: string, to_unit: string }),
        ),
      ],
      ["convert_units", { value: 10, from_unit: "km", to_unit: "miles" }],
    ],
    [
      "Generate a random number between 1 and 6",
      [
        toTool(
          "random_number",
          "Random number in a range",
          object({ min: { type: "integer" }, max: { type: "integer" } }),
        ),
      ],
      ["random_number", { min: 1, max: 6 }],
    ],
    [
      "Greet Ada",
      [toTool("greet", "Greet someone by name", object({ name: string }))],
      ["greet", { name: "Ada" }],
    ],
    [
      "find products under 50 in the category shoes",
      [
        toTool(
          "find_products",
          "Find products",
          object({ category: string, max_price: number }, ["category"]),
        ),
      ],
      ["find_products", { category: "shoes", max_price: 50 }],
    ],
  ];
  test.each(cases)("%s", async (message, offered, ...expected) => {
    const { calls, text } = await turn(message, offered);
    expect(calls, text).toEqual(expected);
  });

  test("follows a schema that refers to itself only so far", async () => {
    const tree = toTool("save_tree", "Save a tree", {
      ...object({ name: string, children: { type: "array", items: { $ref: "#" } } }, ["name"]),
    });
    expect((await turn('Save the tree "oak"', [tree])).calls).toEqual([["save_tree", { name: "oak" }]]);
  });

  test.each([
    [
      "a reference in a circle",
      {
        type: "object",
        properties: { a: { $ref: "#/$defs/A" } },
        required: ["a"],
        $defs: { A: { $ref: "#/$defs/A" } },
      },
    ],
    ["a broken pattern", object({ a: { type: "string", pattern: "(" } })],
    ["a schema that is false", object({ a: false })],
    ["a schema that is no object", { type: "string" }],
    ["nothing", undefined],
    ["null properties", { type: "object", properties: null, required: 7 }],
  ])("survives %s", async (_title, schema) => {
    const offered = [toTool("odd_tool", "An odd tool", schema)];
    const options = { prompt: [user('Use the odd tool with a "x"')], tools: offered };
    await expect(Promise.resolve(model.doGenerate(options))).resolves.toBeDefined();
    await expect(
      Promise.resolve(model.doGenerate({ ...options, toolChoice: { type: "tool", toolName: "odd_tool" } })),
    ).resolves.toBeDefined();
  });
});

describe("is a model of the AI SDK", () => {
  test("counts tokens from characters and reports no warnings", async () => {
    const { usage, warnings } = await model.doGenerate({
      prompt: [user("Weather in Paris?")],
      tools: [weather],
    });
    expect(usage.inputTokens.total).toBeGreaterThan(usage.outputTokens.total ?? 0);
    expect(warnings).toEqual([]);
  });

  test("streams what it generates", async () => {
    const prompt = [user("Weather in Paris?"), returned("get_weather", "Paris is sunny")];
    const parts = await streamed(prompt);
    const deltas = parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : []));
    expect(deltas.join("")).toBe("Paris is sunny");
    expect(parts[0]?.type).toBe("stream-start");
    expect(parts.at(-1)).toMatchObject({ type: "finish", finishReason: { unified: "stop" } });
  });

  test("streams tool calls", async () => {
    const parts = await streamed([user("Weather in Paris?")]);
    expect(parts).toContainEqual({
      type: "tool-call",
      toolCallId: "demo_call_1_1",
      toolName: "get_weather",
      input: '{"city":"Paris"}',
    });
    expect(parts.at(-1)).toMatchObject({ type: "finish", finishReason: { unified: "tool-calls" } });
  });

  test("gives the same turn for the same prompt, and new call ids for a longer one", async () => {
    const first = await turn("Weather in Paris and in Rome?", all);
    expect(await turn("Weather in Paris and in Rome?", all)).toEqual(first);
    expect(first.ids).toEqual(["demo_call_1_1", "demo_call_1_2"]);
    expect((await turn([user("Hi"), user("Weather in Paris?")], all)).ids).toEqual(["demo_call_2_1"]);
  });

  test("ignores images and survives a prompt without a user", async () => {
    const image = { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2]) } as const;
    const prompt: LanguageModelV3Prompt = [
      { role: "user", content: [image, { type: "text", text: "Weather in Paris?" }] },
    ];
    expect((await turn(prompt, all)).calls).toEqual([["get_weather", { city: "Paris" }]]);
    expect((await turn([{ role: "system", content: "Weather in Paris?" }], all)).text).toContain(
      "demo/keyword",
    );
    expect((await turn([], all)).text).toContain("demo/keyword");
  });

  test.each([
    ["a".repeat(2_000_000)],
    ["weather in ".repeat(100_000)],
    ["Paris, Rome and 1.2.3 a@b ".repeat(50_000)],
    ["-1-".repeat(100_000)],
    ['"'.repeat(100_000)],
  ])("reads a huge message in bounded time (%#)", async (message) => {
    const start = performance.now();
    await turn(message, all);
    expect(performance.now() - start).toBeLessThan(3_000);
  });
});

describe("never throws and never sends arguments that do not fit", () => {
  const name = fc.constantFrom(
    "city",
    "order_id",
    "count",
    "to",
    "from",
    "subject",
    "date",
    "tags",
    "flag",
    "value",
    "__proto__",
    "a b",
  );
  const leaf = fc.oneof(
    fc.record({
      type: fc.constant("string"),
      format: fc.constantFrom("email", "uri", "date", "date-time", "time", "uuid"),
    }),
    fc.record({ type: fc.constant("string"), minLength: fc.nat(5), maxLength: fc.nat(30) }),
    fc.record({
      type: fc.constant("string"),
      pattern: fc.constantFrom("^[A-Z]{3}$", "^\\d+$", "^x-", "a|b"),
    }),
    fc.record({
      type: fc.constantFrom("integer", "number"),
      minimum: fc.integer({ min: -50, max: 50 }),
      maximum: fc.integer({ min: 0, max: 100 }),
    }),
    fc.record({ type: fc.constantFrom("boolean", "string", "null", "number"), description: fc.string() }),
    fc.record({ type: fc.constant(["string", "null"]) }),
    fc.record({
      enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { minLength: 1, maxLength: 4 }),
    }),
    fc.record({ const: fc.oneof(fc.string(), fc.integer(), fc.constant(null)) }),
    fc.record({
      anyOf: fc.constant([{ type: "integer" }, { type: "string", format: "date" }, { type: "null" }]),
    }),
    fc.constantFrom({ $ref: "#/$defs/Thing" }, { $ref: "#" }, { $ref: "#/missing" }, {}, true, false),
  );
  const { schema } = fc.letrec<{ node: unknown; schema: Record<string, unknown> }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3, depthIdentifier: "schema" },
      leaf,
      fc.record(
        { type: fc.constant("array"), items: tie("node"), minItems: fc.nat(2), uniqueItems: fc.boolean() },
        { requiredKeys: ["type", "items"] },
      ),
      tie("schema"),
    ),
    schema: fc.dictionary(name, tie("node"), { maxKeys: 4 }).chain((properties) =>
      fc.record({
        type: fc.constant("object"),
        properties: fc.constant(properties),
        required: fc.subarray(Object.keys(properties)),
        additionalProperties: fc.boolean(),
      }),
    ),
  }));
  const root = schema.map((value) => ({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    ...value,
    $defs: { Thing: { type: "object", properties: { id: { type: "string" } }, required: ["id"] } },
  }));
  const word = fc.constantFrom(
    ...[
      "do",
      "thing",
      "the",
      "in",
      "Paris",
      "and",
      "Rome",
      "A-1",
      "42",
      "-3.5",
      "a@b.co",
      "https://x.io",
      "2026-01-02",
      "at",
      "10:30",
    ],
    ...[
      "tags:",
      "red,",
      "count",
      "is",
      "city",
      '"quoted text"',
      "\u0000",
      "\ud800",
      "not",
      "flag",
      "$5",
      "?",
      "\n",
      "subject:",
      "=",
      "(",
      "\\",
    ],
  );
  const message = fc.oneof(
    fc.array(word, { maxLength: 15 }).map((words) => words.join(" ")),
    fc.string(),
    fc.string({ unit: "binary" }),
  );
  const choice = fc.constantFrom<NonNullable<LanguageModelV3CallOptions["toolChoice"]>>(
    { type: "auto" },
    { type: "required" },
    { type: "tool", toolName: "do_thing" },
    { type: "tool", toolName: "submit_answer" },
  );

  test("for any message and schema", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        message,
        root,
        fc.boolean(),
        choice,
        fc.json(),
        async (text, inputSchema, isAnswer, toolChoice, result) => {
          const name = isAnswer ? "submit_answer" : "do_thing";
          const offered = [toTool(name, "Do the thing", inputSchema), weather];
          await turn(text, offered, { toolChoice });
          await turn(
            [user(text), called("get_weather", { city: "x" }), returned("get_weather", JSON.parse(result))],
            offered,
            { toolChoice },
          );
        },
      ),
      { numRuns: 300 },
    );
  });
});
