// The floor of every request: one that does nothing, to the same API over a kept connection.
import type { ApiClient } from "../api-client.ts";

/** Asks `count` times for the API's health, one after the other, and gives each time in milliseconds to `add`. */
export async function measureHttp(api: ApiClient, add: (ms: number) => void, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const startedAt = performance.now();
    const { status } = await api.send("GET", "/healthz");
    if (status !== 200) throw new Error(`/healthz answered ${status}`);
    add(performance.now() - startedAt);
  }
}
