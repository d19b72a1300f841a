import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { startService } from '../support/process.ts'
import { newFolder } from '../support/run.ts'

test('a service whose lock was taken by another one accepts no token that is revoked there, and ends', async () => {
  const folder = newFolder()
  const env = { LANEKEEPER_STORAGE: `fs:${folder}/data`, LANEKEEPER_LOG: 'info' }
  const first = await startService(['--demo'], env)
  const { token } = first.world.tokens.find(({ state }: { state: string }) => state === 'active')
  const statusAt = async (url: string) => {
    const response = await fetch(`${url}/v1/account`, { headers: { authorization: `Bearer ${token}` } }).catch(() => undefined)
    return response?.status
  }
  expect(await statusAt(first.url)).toBe(200)
  await rm(`${folder}/data/run`, { recursive: true })
  const second = await startService([], env)
  await fetch(`${second.url}/revoke`, { method: 'POST', body: new URLSearchParams({ token }) })
  expect(await statusAt(second.url)).toBe(401)
  // The start of the second one takes longer than the first one needs to see it. It is not there any more, or refuses.
  expect([undefined, 503]).toContain(await statusAt(first.url))
  await expect.poll(() => first.child.exitCode, { timeout: 60_000 }).toBe(4)
  expect(first.stderr()).toContain('"event":"storage.lost"')
  expect(await second.stop()).toBe(0)
})
