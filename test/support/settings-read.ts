/** The names of the settings that a `loadConfig` looks up, whether or not it then finds fault with the rest. */
export function settingsRead(load: (env: Record<string, string | undefined>) => unknown): string[] {
  const names = new Set<string>();
  const env = new Proxy<Record<string, string | undefined>>(
    {},
    {
      get(_, name) {
        names.add(String(name));
        return undefined;
      },
    },
  );
  try {
    load(env);
  } catch {
    // Required settings are missing, which is told only after all were looked up.
  }
  return [...names].sort();
}
