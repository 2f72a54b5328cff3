// What a tool's result makes durable on its way to the model: the two transactions of the design, with the rows that
// each must write and nothing else, one after the other in one Postgres connection. The tables are bare: their primary
// keys are all the indexes they have. Each transaction goes in one message.
import pg from "pg";
import type { Closers } from "../closers.ts";
import type { Stage } from "../stage.ts";

/** The bare commits of one trip after the other. */
export interface TripCommits {
  /** Stores the call that the next trip settles, as a step before it has. */
  prepare(): Promise<void>;
  /** Settles that call. */
  settle(): Promise<void>;
  /** Claims the step that is due then. */
  claim(): Promise<void>;
}

const TABLES = `
  CREATE TABLE sessions (id int PRIMARY KEY, status text NOT NULL, next_index int NOT NULL, fence int NOT NULL,
    worker text, lease_until timestamptz, due_at timestamptz, last_activity_at timestamptz NOT NULL);
  CREATE TABLE events (session_id int, index int, type text NOT NULL, data json NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (session_id, index));
  CREATE TABLE calls (session_id int, id text, state text NOT NULL, args json NOT NULL, content_hash bytea,
    settled_at timestamptz, PRIMARY KEY (session_id, id));
  INSERT INTO sessions VALUES (1, 'awaiting_tool_results', 0, 0, NULL, NULL, NULL, now())`;

const toCall = (call: string): string =>
  `INSERT INTO calls VALUES (1, '${call}', 'pending', '{"place": 1}', NULL, NULL)`;

/** The result is settled: its event and the one of the new state, the call, and the session, whose step is due. */
const toSettling = (call: string, index: number): string => `BEGIN;
  INSERT INTO events VALUES
    (1, ${index}, 'AgentEvent', '{"kind":"tool_result","tool_req":{"tool_name":"look_up","args":{"place":1},"id":"${call}"},"result":"It is the 7th place."}'),
    (1, ${index + 1}, 'ActiveStateChangeEvent', '{"state":"running","pending_tool_calls":null}');
  UPDATE calls SET state = 'answered', content_hash = '\\x00112233445566778899aabbccddeeff', settled_at = clock_timestamp()
   WHERE session_id = 1 AND id = '${call}';
  UPDATE sessions SET status = 'running', next_index = ${index + 2}, due_at = clock_timestamp(),
         last_activity_at = clock_timestamp() WHERE id = 1;
  COMMIT`;

/** The step is claimed. */
const CLAIMING = `BEGIN;
  UPDATE sessions SET fence = fence + 1, worker = 'worker', lease_until = clock_timestamp() + interval '30 s' WHERE id = 1;
  COMMIT`;

/** Opens the connection, on a database of its own on the stage's Postgres. */
export async function openTripCommits(stage: Stage, closers: Closers): Promise<TripCommits> {
  const db = new pg.Client({ connectionString: await stage.createDatabase("bench_trip_commits") });
  db.on("error", () => undefined);
  await db.connect();
  closers.push(() => db.end());
  await db.query(TABLES);
  let trips = 0;
  return {
    async prepare() {
      trips++;
      await db.query(toCall(`call_${trips}`));
    },
    async settle() {
      await db.query(toSettling(`call_${trips}`, 2 * trips));
    },
    async claim() {
      await db.query(CLAIMING);
    },
  };
}
