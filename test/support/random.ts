/** Returns a random integer from 0 (inclusive) to `below` (exclusive). */
export type RandomInteger = (below: number) => number

/** A deterministic generator: the same seed gives the same sequence (mulberry32). */
export function seededRandom(seed: number): RandomInteger {
  let state = Math.imul(seed + 1, 0x9e3779b1)
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}
