import type { Wake } from "../wake/wake.ts";

/** What other processes are told of a worker. */
export interface Presence {
  /** Tells soon that the worker has become full, or free again. */
  change(): void;
  /** Tells that the worker takes no more, and nothing after that. */
  end(): void;
}

/** How often a worker says that it is there, in milliseconds: living ones are heard of while an offer stands. */
const PRESENCE_MS = 400;

/** How often a worker that is full, or no more, says so at most, in milliseconds. */
const CHANGE_MS = 50;

/** A worker as others are told of it. */
export interface ShownWorker {
  /** Names it in notes. */
  id: string;
  /** How long it holds a step that is claimed for it, in milliseconds. */
  leaseMs: number;
  countFree(): number;
}

/** Tells other processes again and again, and whenever one asks, how many slots of a worker are free. */
export function showPresence(
  wake: Pick<Wake, "send" | "receive" | "ready">,
  { id, leaseMs, countFree }: ShownWorker,
): Presence {
  let changing: NodeJS.Timeout | null = null;
  let isOver = false;
  const tell = () => {
    changing = null;
    // What cannot be sent is told again soon: it needs no attempt, and no warning.
    wake.ready().then(
      () => {
        const free = countFree();
        if (!isOver) wake.send(free === 0 ? `full.${id}` : `free.${id}.${free}.${leaseMs}`);
      },
      () => undefined,
    );
  };
  const telling = setInterval(tell, PRESENCE_MS);
  const stopReceiving = wake.receive((note) => {
    if (note === "who") tell();
  });
  tell();
  return {
    change() {
      if (!isOver) changing ??= setTimeout(tell, CHANGE_MS);
    },
    end() {
      isOver = true;
      clearInterval(telling);
      if (changing) clearTimeout(changing);
      stopReceiving();
      wake.send(`gone.${id}`);
    },
  };
}
