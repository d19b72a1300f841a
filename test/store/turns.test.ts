import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Turns } from '../../src/store/turns.ts'

describe('turns', () => {
  let turns: Turns
  const events: string[] = []
  /** Takes a turn, and records when it begins. */
  const take = async (name: string, partition = 'w1') => {
    const turn = await turns.take(partition)
    events.push(name)
    return turn
  }
  const pass = async (name: string, turn?: string, partition = 'w1') => {
    await turns.pass(partition, turn)
    events.push(name)
  }
  const settle = () => vi.advanceTimersByTimeAsync(0)
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    turns = new Turns(100)
    events.length = 0
  })
  afterEach(() => vi.useRealTimers())

  test('are taken in the order in which they were asked for', async () => {
    const first = await take('first')
    const [second, third] = [take('second'), take('third')]
    await settle()
    expect(events).toEqual(['first'])
    first.end()
    const held = await second
    await settle()
    expect(events).toEqual(['first', 'second'])
    held.end()
    await third
    expect(events).toEqual(['first', 'second', 'third'])
  })

  test('commits of others wait until the turn ends, and come before the turn that follows', async () => {
    const first = await take('first')
    await pass('own commit', first.id)
    const waiting = pass('another commit')
    const second = take('second')
    await settle()
    expect(events).toEqual(['first', 'own commit'])
    first.end()
    await waiting
    // Asked for after the second turn, although none is held at this moment.
    const third = take('third')
    const held = await second
    expect(events).toEqual(['first', 'own commit', 'another commit', 'second'])
    const late = pass('late commit')
    await settle()
    held.end()
    ;(await third).end()
    await late
    expect(events).toEqual(['first', 'own commit', 'another commit', 'second', 'late commit', 'third'])
    expect(turns.othersIn('w1', undefined)).toBeUndefined()
  })

  test('a turn has no effect in another partition', async () => {
    await take('first')
    await pass('another partition', undefined, 'w2')
    await take('its turn', 'w2')
    expect(events).toEqual(['first', 'another partition', 'its turn'])
  })

  test('a turn lasts 250 milliseconds unless another duration is given', async () => {
    turns = new Turns()
    const { id } = await take('first')
    await vi.advanceTimersByTimeAsync(249)
    expect(turns.isHeld('w1', id)).toBe(true)
    await vi.advanceTimersByTimeAsync(1)
    expect(turns.isHeld('w1', id)).toBe(false)
  })

  test('a turn that was ended leaves no timer behind', async () => {
    ;(await take('first')).end()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('a turn ends by itself, and then commits with its id wait like others', async () => {
    const first = await take('first')
    const second = take('second')
    await vi.advanceTimersByTimeAsync(99)
    expect([events, turns.isHeld('w1', first.id)]).toEqual([['first'], true])
    await vi.advanceTimersByTimeAsync(1)
    await second
    expect([turns.isHeld('w1', first.id), turns.isHeld('w1', (await second).id)]).toEqual([false, true])
    const late = pass('late commit', first.id)
    first.end()
    await settle()
    expect([events, turns.isHeld('w1', (await second).id)]).toEqual([['first', 'second'], true])
    ;(await second).end()
    await late
    expect(events.at(-1)).toBe('late commit')
  })
})
