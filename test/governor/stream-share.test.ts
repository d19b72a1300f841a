import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { StreamShare } from '../../src/governor/stream-share.ts'
import { Turn, Turns } from '../../src/governor/turns.ts'
import { errorOf } from '../support/error-of.ts'

const KIB = 1024

/** A share whose time and pauses the test moves on. @param rests what remains after each charge: the seconds, if nothing does */
function setUp(rests: readonly (number | undefined)[] = []) {
  let now = 0
  const pauses: (() => void)[] = []
  const turns = new Turns({ now: () => now, afterPause: (end) => pauses.push(end) })
  const worker = { workspaceId: 'w', id: 't', signal: new AbortController().signal }
  const turn = new Turn(turns, worker)
  const charged: number[] = []
  const left = [...rests]
  const charge = (units: number) => (charged.push(units), left.shift())
  const share = new StreamShare({ turns, turn, charge })
  const endPauses = async () => {
    for (const end of pauses.splice(0)) end()
    await nextTurn()
  }
  return { share, turn, turns, charged, pauses, endPauses, pass: (milliseconds: number) => void (now += milliseconds) }
}

const lagging = (seconds: number) => ({ code: 'rate_limited', details: { members: { retry_after: seconds } } })
const thrownBy = (work: () => void) => errorOf(Promise.resolve().then(work))

test('64 KiB cost a unit, and what remains counts for the next ones', () => {
  const { share, charged } = setUp()
  for (const size of [10, 50, 3, 1, 200, 56, 63, 1]) share.requireRest(size * KIB, 0)
  expect(charged).toEqual([1, 3, 1, 1])
})

test('a stream whose units are used up has to begin again, after the seconds until there are more', async () => {
  const { share } = setUp([undefined, 17])
  share.requireRest(64 * KIB, 0)
  expect(await thrownBy(() => share.requireRest(64 * KIB, 0))).toMatchObject(lagging(17))
})

test.each([
  [30_000, undefined],
  [30_001, lagging(1)],
])('a client that takes its events after %d ms', async (waited, error) => {
  const { share } = setUp()
  const given = async () => share.requireRest(1, waited)
  await (error === undefined ? given() : expect(given()).rejects.toMatchObject(error))
})

test('streams work without a turn as long as they use a fourth of the time, and then in turns', async () => {
  const { share, pauses, endPauses, pass } = setUp()
  const done: string[] = []
  const step = (name: string, milliseconds: number) => share.step(() => (pass(milliseconds), void done.push(name)))
  await step('first', 0.8)
  await step('second', 0.8)
  const third = step('third', 0.8)
  await nextTurn()
  expect({ done, pauses: pauses.length }).toEqual({ done: ['first', 'second'], pauses: 1 })
  await endPauses()
  await third
  expect(done).toEqual(['first', 'second', 'third'])
  pass(8)
  await step('fourth', 0.1)
  expect(done.at(-1)).toBe('fourth')
})

test('a stream that waits too long for its turn has to begin again', async () => {
  for (const [wait, isLate] of [
    [29_999, false],
    [30_001, true],
  ] as const) {
    const { share, endPauses, pass } = setUp()
    await share.step(() => pass(2))
    const step = share.step(() => 'done')
    const seen = isLate ? expect(step).rejects.toMatchObject(lagging(1)) : expect(step).resolves.toBe('done')
    await nextTurn()
    pass(wait)
    await endPauses()
    await seen
  }
})

test('the reads of a step have the turn of the step, even if several streams of a response work at once', async () => {
  const { share, turn, endPauses, pass } = setUp()
  await share.step(() => pass(2))
  const inner = async (name: string) => {
    await turn.take()
    return name
  }
  const all = Promise.all(['one', 'two'].map((name) => share.step(() => inner(name))))
  for (let i = 0; i < 8; i++) {
    await nextTurn()
    await endPauses()
  }
  expect(await all).toEqual(['one', 'two'])
})
