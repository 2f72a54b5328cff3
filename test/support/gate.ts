/** A barrier that a test opens when it has done what must come first. */
export interface Gate {
  /** Resolves when the gate is open. */
  opened: Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
