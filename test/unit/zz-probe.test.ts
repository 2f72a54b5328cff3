import { test } from "vitest";
import { createDemoKeywordModel } from "../../apps/worker/src/models/demo-keyword/model.ts";
const m = createDemoKeywordModel();
const o = (p: any, r = Object.keys(p)) => ({ type: "object", properties: p, required: r, additionalProperties: false });
const s = { type: "string" }; const n = { type: "number" }; const i = { type: "integer" }; const b = { type: "boolean" };
const d = (x: any, description: string) => ({ ...x, description });
const T = (name: string, description: string, inputSchema: any) => ({ type: "function" as const, name, description, inputSchema });
const probes: [string, any[]][] = [
  ["How many items of SKU ABC-123 are in stock?", [T("check_inventory", "Check stock level of a product", o({ sku: s })), T("get_price", "Get the price of a product", o({ sku: s }))]],
  ["Play Bohemian Rhapsody by Queen", [T("play_song", "Play a song", o({ title: s, artist: s }))]],
  ["Post 'Hello team' to #general", [T("post_message", "Post a message to a Slack channel", o({ channel: s, text: s }))]],
  ["Send a slack message to channel general saying deploy is done", [T("send_slack_message", "Send a Slack message", o({ channel: s, message: s }))]],
  ["Deploy version 1.4.2 to staging", [T("deploy", "Deploy a service version", o({ version: s, environment: { enum: ["staging", "production"] } }))]],
  ["Translate hello world into Spanish", [T("translate", "Translate text", o({ text: s, target_language: s }))]],
  ["Reverse the string hello", [T("reverse_string", "Reverses a string", o({ input: s }))]],
  ["Transfer $250 from checking to savings", [T("transfer_money", "Transfer money between accounts", o({ amount: n, from_account: s, to_account: s }))]],
  ["Find movies with Tom Hanks from 1994", [T("search_movies", "Search movies", o({ actor: s, year: i }, []))]],
  ["how's the weather in tokyo", [T("getWeather", "Fetch weather data", o({ location: d(s, "City name, e.g. London") }))]],
  ["Weather for 10115 please", [T("get_weather", "Weather by zip code", o({ zip_code: s }))]],
  ["What's the weather at 52.52, 13.405?", [T("get_weather", "Weather at coordinates", o({ latitude: n, longitude: n }))]],
  ["Remember that my favourite color is blue", [T("save_memory", "Remember a fact about the user", o({ fact: s }))]],
  ["Save a note: buy eggs and milk", [T("save_note", "Save a note", o({ text: s }))]],
  ["note that the meeting moved to Friday", [T("add_note", "Adds a note", o({ content: s }))]],
  ["Create an issue in acme/api titled \"Crash on start\" with labels bug, urgent", [T("create_issue", "Create a GitHub issue", o({ repo: s, title: s, body: s, labels: { type: "array", items: s } }, ["repo", "title"]))]],
  ["Order 2 pizzas margherita to Main Street 5", [T("order_pizza", "Order pizza", o({ kind: s, quantity: i, address: s }))]],
  ["Order a large pepperoni pizza", [T("order_pizza", "Order a pizza", o({ size: { enum: ["small", "medium", "large"] }, toppings: { type: "array", items: { enum: ["pepperoni", "mushroom", "cheese"] } } }))]],
  ["Show me open invoices for customer C-77", [T("list_invoices", "List invoices", o({ customer_id: s, status: { enum: ["open", "paid"] } }, ["customer_id"]))]],
  ["Set a timer for 10 minutes", [T("set_timer", "Start a timer", o({ minutes: i }))]],
  ["Set an alarm for 7:30 am", [T("set_alarm", "Set an alarm", o({ time: s }))]],
  ["Call +49 170 1234567", [T("dial", "Call a phone number", o({ phone_number: s }))]],
  ["Look up the definition of serendipity", [T("define_word", "Dictionary definition of a word", o({ word: s }))]],
  ["Define serendipity", [T("define_word", "Dictionary definition of a word", o({ word: s }))]],
  ["What does ephemeral mean?", [T("define_word", "Look up the meaning of a word", o({ word: s }))]],
  ["Is order A-1001 delivered and is order A-1002 delivered?", [T("get_order_status", "", o({ order_id: s }))]],
  ["Compare the weather in Paris and London", [T("compare_weather", "Compare weather of two cities", o({ city_a: s, city_b: s }))]],
  ["Give me the top 3 news about Tesla", [T("get_news", "Latest news", o({ topic: s, limit: { ...i, default: 10 } }, ["topic"]))]],
  ["Change the status of task 12 to done", [T("update_task", "Update a task", o({ task_id: i, status: { enum: ["todo", "in_progress", "done"] } }))]],
  ["Mark task 12 as in progress", [T("update_task", "Update a task", o({ task_id: i, status: { enum: ["todo", "in_progress", "done"] } }))]],
  ["What's 2 to the power of 10?", [T("power", "Raise a base to an exponent", o({ base: n, exponent: n }))]],
  ["Convert 72 fahrenheit to celsius", [T("convert_temperature", "Convert temperatures", o({ value: n, from_unit: { enum: ["celsius", "fahrenheit"] }, to_unit: { enum: ["celsius", "fahrenheit"] } }))]],
  ["How many days are between 2026-01-01 and 2026-02-01?", [T("days_between", "Number of days between two dates", o({ start: { ...s, format: "date" }, end: { ...s, format: "date" } }))]],
  ["Subscribe me@example.com to the newsletter", [T("subscribe", "Subscribe an address to the newsletter", o({ email: s }))]],
  ["Please query the database for all users older than 30", [T("query_database", "Query the database", o({ question: s }))]],
  ["Reply to ticket 7 with 'We are on it'", [T("reply_to_ticket", "Reply to a ticket", o({ ticket_id: s, message: s }))]],
  ["Upload /tmp/report.pdf to s3://bucket/x", [T("upload_file", "Upload a file", o({ source: d(s, "local path"), destination: d(s, "target URL") }))]],
  ["Find a restaurant in Lisbon with vegan food", [T("find_restaurant", "Find restaurants", o({ city: s, cuisine: s }, ["city"]))]],
  ["Echo hello there", [T("echo", "Echo back the text", o({ text: s }))]],
  ["echo: one two three", [T("echo", "", o({ message: s }))]],
  ["ping", [T("ping", "Ping the server", o({}))]],
  ["What's my balance?", [T("get_balance", "Get the account balance", o({}))]],
  ["Was kostet die Bestellung A-1001?", [T("get_order", "", o({ order_id: s }))]],
  ["Wie ist das Wetter in Berlin?", [T("get_weather", "Get the weather", o({ city: s }))]],
  ["Thanks! Now what about order B-7?", [T("get_order_status", "", o({ order_id: s })), T("get_weather", "", o({ city: s }))]],
  ["Can you help me?", [T("get_weather", "", o({ city: s })), T("search", "", o({ query: s }))]],
  ["What can you do?", [T("get_weather", "", o({ city: s }))]],
  ["I love Paris", [T("get_weather", "Get weather", o({ city: s }))]],
];
test("probe", async () => {
  for (const [text, tools] of probes) {
    const r = await m.doGenerate({ prompt: [{ role: "user", content: [{ type: "text", text }] }], tools });
    console.log(`${text}\n    => ${r.content.map((c: any) => (c.type === "text" ? c.text.slice(0, 120) : `${c.toolName} ${c.input}`)).join(" | ")}`);
  }
});
