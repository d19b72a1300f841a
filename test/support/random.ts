/** Numbers from 0 up to, and without, a bound: the same ones for the same seed. */
export type Dice = (below: number) => number

/** A die that can be thrown again just as it fell (mulberry32). */
export function dice(seed: number): Dice {
  let state = Math.imul(seed + 1, 0x9e3779b1)
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}
