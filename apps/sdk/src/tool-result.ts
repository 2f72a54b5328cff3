// What a tool returns, and the JSON that is posted of it.

/** What `fn` can return: anything that JSON can carry, a promise of it, or an async generator. */
export type ToolReturn = unknown;
