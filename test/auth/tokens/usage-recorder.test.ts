import { describe, expect, test } from 'vitest'
import { UsageRecorder } from '../../../src/auth/tokens/usage.ts'
import { systemRandom } from '../../../src/model/ids.ts'
import { decorateStore, type Store } from '../../../src/store/port.ts'
import { createMemoryStore } from '../../../src/store/memory.ts'

/** A recorder at a fixed time, with a count of its commits. */
function start(changes: (store: Store) => Partial<Store> = () => ({})) {
  const inner = createMemoryStore()
  const state = { commits: 0 }
  const counted = decorateStore(inner, {
    commit: (partition, change) => {
      state.commits++
      return inner.commit(partition, change)
    },
  })
  const store = decorateStore(counted, changes(counted))
  return { recorder: new UsageRecorder({ store, clock: () => 1_000_000_000, random: systemRandom }), state }
}

describe('the recorder of the last use', () => {
  test('waits for its writes when it is asked to', async () => {
    let finish = (): void => undefined
    const { recorder } = start((inner) => ({
      commit: async (partition, change) => {
        await new Promise<void>((resolve) => (finish = resolve))
        return inner.commit(partition, change)
      },
    }))
    recorder.record('wsp_1', 'a')
    let isSettled = false
    const settled = recorder.settled().then(() => (isSettled = true))
    await new Promise(setImmediate)
    expect(isSettled).toBe(false)
    finish()
    await settled
  })

  test('ignores a write that fails', async () => {
    const { recorder } = start(() => ({ commit: () => Promise.reject(new Error('no storage')) }))
    recorder.record('wsp_1', 'a')
    await recorder.settled()
  })

  test('writes the use of each of several tokens once', async () => {
    const { recorder, state } = start()
    for (const hash of ['a', 'b', 'c', 'a', 'b', 'c']) recorder.record('wsp_1', hash)
    await recorder.settled()
    expect(state.commits).toBe(3)
  })

  test('remembers 10,000 tokens, and writes what it has counted of the one that it forgets', async () => {
    const { recorder, state } = start()
    const commitsOf = async (...hashes: string[]) => {
      const before = state.commits
      for (const hash of hashes) recorder.record('wsp_1', hash)
      await recorder.settled()
      return state.commits - before
    }
    expect(await commitsOf('first', ...Array.from({ length: 9_999 }, (_, i) => String(i)))).toBe(10_000)
    expect(await commitsOf('first', '0', '9998')).toBe(0)
    // The use of a token that is new is written at once.
    expect(await commitsOf('another')).toBe(2)
    expect(await commitsOf('0', 'first')).toBe(2)
    // Nothing was counted of '1' since it was written.
    expect(await commitsOf('unused')).toBe(1)
  })
})
