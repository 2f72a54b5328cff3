// Chance that can be had again: the same seed gives the same sequence.

/** A sequence of numbers from 0 to 1, and what is made of them. */
export interface Random {
  (): number;
  /** A whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number;
  pick<T>(list: readonly T[]): T;
}

export function seeded(seed: number): Random {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return Object.assign(next, {
    integer: (min: number, max: number) => min + Math.floor(next() * (max - min + 1)),
    pick: <T>(list: readonly T[]) => list[Math.floor(next() * list.length)] as T,
  });
}

/** The seed of a run: `TEST_SEED`, to have one again, else another each time. */
export function chooseSeed(): number {
  const given = process.env.TEST_SEED;
  return given === undefined ? Math.floor(Math.random() * 1_000_000) : Number(given);
}
