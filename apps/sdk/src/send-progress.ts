// Progress of one call, on its way to the server.

/** No handler is held up for longer by a line that stalls, in ms. */
const longestWaitMs = 250;

/** Sends one value. */
type SendProgress = (value: unknown) => Promise<unknown>;

/**
 * A function that sends values one at a time. Of those that come while one is under way only the latest is sent. Its
 * promises resolve when their value is sent, or left out for a later one, or not sent in good time: they never reject.
 */
export function createProgress(send: SendProgress): (value: unknown) => Promise<void> {
  let waiting: { value: unknown; resolve: () => void } | null = null;
  let isSending = false;

  const sendAll = async () => {
    isSending = true;
    for (let next = waiting; next; next = waiting) {
      waiting = null;
      await send(next.value).catch(() => {});
      next.resolve();
    }
    isSending = false;
  };

  return (value) =>
    new Promise((resolve) => {
      const json = toJson(value);
      if (json === undefined) return resolve();
      waiting?.resolve();
      waiting = { value: JSON.parse(json), resolve };
      setTimeout(resolve, longestWaitMs);
      if (!isSending) void sendAll();
    });
}

/** As the value is now: a handler may change it before it is sent. */
function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value ?? null);
  } catch {
    return undefined;
  }
}
