import { expect, test } from 'vitest'
import { createPasswords } from '../../../src/auth/accounts/passwords.ts'

/** Creates passwords with an algorithm that takes no processor time. `load` counts the hashes that are being computed. */
function createObserved() {
  const load = { now: 0, max: 0 }
  const run = async <T>(result: T): Promise<T> => {
    load.max = Math.max(load.max, ++load.now)
    await new Promise((resolve) => setTimeout(resolve, 1))
    load.now--
    return result
  }
  const cost = { memoryCost: 8, timeCost: 1, parallelism: 1 }
  return { load, ...createPasswords(cost, { hash: () => run('hash'), verify: () => run(true) }) }
}

test('two passwords are hashed at the same time, and the others wait', async () => {
  const { hash, verify, load } = createObserved()
  // The hash for accounts that do not exist is computed once, outside the queue. This waits for it.
  await verify('x', undefined)
  load.max = 0
  expect(await Promise.all(Array.from({ length: 20 }, (_, i) => hash(`password ${i}`)))).toHaveLength(20)
  expect(load.max).toBe(2)
})

test('when too many passwords wait, the response says when to try again', async () => {
  const { hash } = createObserved()
  const results = await Promise.allSettled(Array.from({ length: 103 }, () => hash('x')))
  const [rejected, ...others] = results.filter((result) => result.status === 'rejected')
  expect(others).toEqual([])
  expect(rejected!.reason).toMatchObject({
    code: 'unavailable',
    message: 'Too many people are signing in at the moment. Try again in a few seconds.',
    details: { headers: { 'retry-after': '2' } },
  })
})
