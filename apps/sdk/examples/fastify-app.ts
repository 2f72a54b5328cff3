// A web application that answers questions: its tools are its own functions, and a reader who leaves ends the session.
//   TANDEM_API_KEY=… npx tsx apps/sdk/examples/fastify-app.ts
//   curl "http://127.0.0.1:3011/ask?question=How+many+seats+has+the+red+room%3F"
import { APIError, TandemClient, tool } from "@tandem/sdk";
import Fastify from "fastify";
import { z } from "zod";

const seats: Record<string, number> = { red: 12, blue: 40 };

const countSeats = tool({
  name: "count_seats",
  description: "How many seats a room has.",
  inputSchema: z.object({ room: z.enum(["red", "blue"]).describe("The room.") }),
  fn: ({ room }) => ({ room, seats: seats[room] }),
});

const client = new TandemClient();
const app = Fastify();

app.get<{ Querystring: { question?: string } }>("/ask", async (request, reply) => {
  const { question } = request.query;
  if (!question) return reply.code(400).send({ error: "question is missing" });
  const left = new AbortController();
  reply.raw.once("close", () => left.abort());
  const { status, answer, error } = await client.runSession({
    agent: "tandem/assistant",
    messages: question,
    tools: [countSeats],
    signal: left.signal,
    cancelOnAbort: true,
    timeoutMs: 60_000,
  });
  return { status, answer, error };
});

app.setErrorHandler((error, _request, reply) => {
  const code = error instanceof APIError && error.status === 429 ? 503 : 500;
  return reply.code(code).send({ error: error instanceof Error ? error.message : String(error) });
});

console.log(`Listening on ${await app.listen({ port: Number(process.env.EXAMPLE_PORT ?? 3011) })}`);
process.once("SIGTERM", () => app.close());
