import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { CommitLeases } from '../../src/store/commit-leases.ts'

describe('leases', () => {
  let leases: CommitLeases
  const events: string[] = []
  /** Takes a lease, and records when it begins. */
  const take = async (name: string, partition = 'w1') => {
    const lease = await leases.take(partition)
    events.push(name)
    return lease
  }
  const pass = async (name: string, lease?: string, partition = 'w1') => {
    await leases.pass(partition, lease)
    events.push(name)
  }
  const settle = () => vi.advanceTimersByTimeAsync(0)
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    leases = new CommitLeases(100)
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

  test('commits of others wait until the lease ends, and come before the lease that follows', async () => {
    const first = await take('first')
    await pass('own commit', first.id)
    const waiting = pass('another commit')
    const second = take('second')
    await settle()
    expect(events).toEqual(['first', 'own commit'])
    first.end()
    await waiting
    // Asked for after the second lease, although none is held at this moment.
    const third = take('third')
    const held = await second
    expect(events).toEqual(['first', 'own commit', 'another commit', 'second'])
    const late = pass('late commit')
    await settle()
    held.end()
    ;(await third).end()
    await late
    expect(events).toEqual(['first', 'own commit', 'another commit', 'second', 'late commit', 'third'])
    expect(leases.othersIn('w1', undefined)).toBeUndefined()
  })

  test('a lease has no effect in another partition', async () => {
    await take('first')
    await pass('another partition', undefined, 'w2')
    await take('its lease', 'w2')
    expect(events).toEqual(['first', 'another partition', 'its lease'])
  })

  test('a lease lasts 250 milliseconds unless another duration is given', async () => {
    leases = new CommitLeases()
    const { id } = await take('first')
    await vi.advanceTimersByTimeAsync(249)
    expect(leases.isHeld('w1', id)).toBe(true)
    await vi.advanceTimersByTimeAsync(1)
    expect(leases.isHeld('w1', id)).toBe(false)
  })

  test('a lease that was ended leaves no timer behind', async () => {
    ;(await take('first')).end()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('a lease ends by itself, and then commits with its id wait like others', async () => {
    const first = await take('first')
    const second = take('second')
    await vi.advanceTimersByTimeAsync(99)
    expect({ events, isHeld: leases.isHeld('w1', first.id) }).toEqual({ events: ['first'], isHeld: true })
    await vi.advanceTimersByTimeAsync(1)
    await second
    expect({ first: leases.isHeld('w1', first.id), second: leases.isHeld('w1', (await second).id) }).toEqual({ first: false, second: true })
    const late = pass('late commit', first.id)
    first.end()
    await settle()
    expect({ events, isHeld: leases.isHeld('w1', (await second).id) }).toEqual({ events: ['first', 'second'], isHeld: true })
    ;(await second).end()
    await late
    expect(events.at(-1)).toBe('late commit')
  })
})
