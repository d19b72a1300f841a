import { describe, expect, test } from 'vitest'
import { Places } from '../../src/webhooks/places.ts'

/** The places under test. Each one is written as `workspace person receiver`. */
class Drill {
  readonly #places = new Places()
  /** those that have a place, in the order in which they got it */
  readonly underWay: string[] = []

  async take(...texts: readonly string[]): Promise<void> {
    for (const text of texts) {
      const free = this.#places.take(placeOf(text))
      if (free === undefined) this.underWay.push(text)
      else void free.then(() => this.underWay.push(text))
    }
    await Promise.resolve()
  }

  /** Ends the first one that is like this. @returns who has got the place */
  async end(text: string): Promise<string | undefined> {
    const [ended] = this.underWay.splice(this.underWay.indexOf(text), 1)
    const before = this.underWay.length
    this.#places.release(placeOf(ended!))
    await Promise.resolve()
    return this.underWay[before]
  }
}

function placeOf(text: string) {
  const [workspaceId, creatorId, receiver] = text.split(' ') as [string, string, string]
  return { workspaceId, creatorId, receiver }
}

const times = <T>(count: number, one: (i: number) => T) => Array.from({ length: count }, (_, i) => one(i))

/** Nine workspaces of many people. */
const FULL = times(9, (i) => times(60, (j) => `w${i} p${j} h`)).flat()

describe('places', () => {
  test.each<[what: string, first: readonly string[], asked: string, isFree: boolean]>([
    ['a colleague, beside 60 webhooks of a member that hang', times(60, (i) => `w ann h${i}`), 'w bob h', true],
    ['a colleague, also to the receiver that hangs', times(60, () => 'w ann h'), 'w bob h', true],
    ['another receiver of the same person', times(60, () => 'w ann h'), 'w ann other', true],
    ['a fifth delivery of a person', times(4, (i) => `w ann h${i}`), 'w ann h5', false],
    ['a fourth one to the same receiver', times(3, () => 'w ann h'), 'w ann h', false],
    ['a sixth one of a workspace', ['w ann a', 'w ann a', 'w ann a', 'w bob b', 'w cora c'], 'w dan d', false],
    ['another workspace, beside nine that are full', FULL, 'other ann h', true],
    ['a second one of a workspace then', [...FULL, 'w ann h'], 'w bob h', false],
    ['a 51st', times(60, (i) => `w${i} ann h`), 'other ann h', false],
  ])('%s: whether it is free', async (_what, first, asked, isFree) => {
    const drill = new Drill()
    await drill.take(...first)
    const before = drill.underWay.length
    await drill.take(asked)
    expect(drill.underWay.slice(before)).toEqual(isFree ? [asked] : [])
  })

  test('go to the person who has the fewest, and then to the receiver that has the fewest', async () => {
    const drill = new Drill()
    await drill.take('w ann a', 'w ann a', 'w ann b', 'w bob x', 'w cora x')
    await drill.take('w ann a', 'w ann c', 'w bob x', 'w dan x')
    expect(drill.underWay).toHaveLength(5)
    expect(await drill.end('w ann b')).toBe('w dan x')
    // The last place is for who has none.
    expect(await drill.end('w cora x')).toBeUndefined()
    expect(await drill.end('w dan x')).toBe('w bob x')
    expect(await drill.end('w bob x')).toBe('w ann c')
    // So is the last one of a person.
    expect(await drill.end('w bob x')).toBeUndefined()
    expect(await drill.end('w ann c')).toBe('w ann a')
  })

  test('go round among those who have equally many', async () => {
    const drill = new Drill()
    await drill.take('w ann a', 'w bob a', 'w cora a', 'w dan a', 'w eve a')
    await drill.take('w ann a1', 'w ann a2', 'w bob b1', 'w bob b2')
    expect(await drill.end('w cora a')).toBeUndefined()
    expect(await drill.end('w dan a')).toBe('w ann a1')
    expect(await drill.end('w eve a')).toBe('w bob b1')
    expect(await drill.end('w ann a')).toBe('w ann a2')
    expect(await drill.end('w bob a')).toBe('w bob b2')
    expect(await drill.end('w bob b1')).toBeUndefined()
  })

  test('are all given, and all come back', async () => {
    const drill = new Drill()
    const all = times(300, (i) => `w${i % 3} p${i % 7} h${i % 11}`)
    await drill.take(...all)
    const ended: string[] = []
    for (let [next] = drill.underWay; next !== undefined; [next] = drill.underWay) {
      expect(drill.underWay.length).toBeLessThanOrEqual(15)
      ended.push(next)
      await drill.end(next)
    }
    expect(ended.toSorted()).toEqual(all.toSorted())
    await drill.take(...times(3, () => 'w0 p0 h0'))
    expect(drill.underWay).toHaveLength(3)
  })
})
