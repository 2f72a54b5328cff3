// Asking together: what many ask for at the same moment is fetched by few statements, so that a crowd neither fills
// the pool nor stands in the way of others.
import { TandemError } from "../domain/errors.ts";

/** Options of {@link createBatches}. */
export interface BatchOptions<Item, Result> {
  /** Most items of one batch. */
  maxItems: number;
  /** Most batches under way at once. */
  maxBatches: number;
  /** Fetches a batch: a result for each item, in order. Rejecting fails all of them. */
  fetch: (items: Item[]) => Promise<Result[]>;
}

/** Asks for one item; whoever asks by the same key before its batch starts shares the result. */
export type Ask<Item, Result> = (key: string, item: Item) => Promise<Result>;

/** How long an item waits for its batch to start until it is refused, in milliseconds: as long as for a connection. */
const MAX_WAIT_MS = 5_000;

/**
 * How many go on with their result in one turn of the event loop: each may have a reply to write, and others want
 * their turn.
 */
const SETTLED_PER_TURN = 100;

interface Entry<Item, Result> {
  item: Item;
  askedAt: number;
  sharers: { resolve: (result: Result) => void; reject: (error: unknown) => void }[];
}

/**
 * Gathers items into batches. One that is asked for alone starts at once; while as many batches are under way as may
 * be, others gather. All that is in a batch was asked for before it starts, and nobody joins it later: no result is
 * older than its question.
 *
 * @returns rejects with `unavailable` what waited for its batch too long
 */
export function createBatches<Item, Result>(options: BatchOptions<Item, Result>): Ask<Item, Result> {
  const gathered = new Map<string, Entry<Item, Result>>();
  let underWay = 0;
  let isStarting = false;
  let expiry: NodeJS.Timeout | null = null;

  // After the promises of this turn: what one wake-up makes many ask for is one batch.
  const startSoon = () => {
    if (isStarting || underWay >= options.maxBatches || gathered.size === 0) return;
    isStarting = true;
    process.nextTick(() => {
      isStarting = false;
      void start();
      startSoon();
    });
  };
  const start = async () => {
    const entries = takeFirst(gathered, options.maxItems);
    if (entries.length === 0) return;
    underWay++;
    const tellers = await options.fetch(entries.map(({ item }) => item)).then(
      (results) => entries.flatMap(({ sharers }, index) => tell(sharers, results[index] as Result)),
      (error: unknown) => entries.flatMap(({ sharers }) => refuse(sharers, error)),
    );
    underWay--;
    startSoon();
    await runInTurns(tellers);
  };
  const watch = () => {
    if (expiry) return;
    const [oldest] = gathered.values();
    if (!oldest) return;
    expiry = setTimeout(expire, oldest.askedAt + MAX_WAIT_MS - performance.now());
    expiry.unref();
  };
  const expire = () => {
    expiry = null;
    const latest = performance.now() - MAX_WAIT_MS;
    const late = [...gathered].filter(([, { askedAt }]) => askedAt <= latest);
    for (const [key] of late) gathered.delete(key);
    const error = new TandemError("unavailable", "The server is busy; try again shortly.");
    void runInTurns(late.flatMap(([, { sharers }]) => refuse(sharers, error)));
    watch();
  };

  return (key, item) =>
    new Promise((resolve, reject) => {
      const entry = gathered.get(key) ?? { item, askedAt: performance.now(), sharers: [] };
      entry.sharers.push({ resolve, reject });
      gathered.set(key, entry);
      startSoon();
      watch();
    });
}

/** Takes the entries that came first out of a map. */
function takeFirst<Value>(map: Map<string, Value>, count: number): Value[] {
  const taken: Value[] = [];
  for (const [key, value] of map) {
    if (taken.length === count) break;
    map.delete(key);
    taken.push(value);
  }
  return taken;
}

type Sharers<Result> = Entry<unknown, Result>["sharers"];

function tell<Result>(sharers: Sharers<Result>, result: Result): (() => void)[] {
  return sharers.map(
    ({ resolve }) =>
      () =>
        resolve(result),
  );
}

function refuse(sharers: Sharers<never>, error: unknown): (() => void)[] {
  return sharers.map(
    ({ reject }) =>
      () =>
        reject(error),
  );
}

async function runInTurns(steps: (() => void)[]): Promise<void> {
  for (let index = 0; index < steps.length; index += SETTLED_PER_TURN) {
    if (index > 0) await new Promise((resolve) => setImmediate(resolve));
    for (const step of steps.slice(index, index + SETTLED_PER_TURN)) step();
  }
}
