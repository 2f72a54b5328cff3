// A look that comes again while it is needed: what standing offers and assignments have in common.
/** Looks that follow each other while there is something to look at. */
export interface Looks {
  /** There is something to look at from now on. */
  need(): void;
  /** Looks no more, and waits for the look that is under way. */
  close(): Promise<void>;
}

/** What {@link createLooks} works with. */
export interface LooksOptions {
  everyMs: number;
  look: () => Promise<void>;
  /** Whether another look is needed. */
  isNeeded: () => boolean;
}

/** Looks at most so often, one look after the other, and not at all while none is needed. */
export function createLooks({ everyMs, look, isNeeded }: LooksOptions): Looks {
  let timer: NodeJS.Timeout | null = null;
  let looking: Promise<void> = Promise.resolve();
  let isClosed = false;
  const need = () => {
    if (isClosed) return;
    timer ??= setTimeout(() => {
      timer = null;
      looking = looking.then(look).then(() => {
        if (isNeeded()) need();
      });
    }, everyMs);
  };
  return {
    need,
    async close() {
      isClosed = true;
      if (timer) clearTimeout(timer);
      await looking;
    },
  };
}
