import { createApp } from '../../src/app.ts'
import { createDerivations } from '../../src/resources/derived.ts'
import { openStorage } from '../../src/store/open.ts'
import { quiet } from './log.ts'
import { engine } from './service.ts'

/**
 * The status of GET /account with each token, from a service on a storage that no process uses. It runs in the process of the test: a
 * start of the built service takes two seconds of CPU time.
 * @param address as in LANEKEEPER_STORAGE
 */
export async function statusesOf(address: string, tokens: readonly string[]): Promise<number[]> {
  const { store, blobs, close } = await openStorage(address, { log: quiet, derived: createDerivations() })
  const app = createApp({ store, blobs, log: quiet, engine })
  const statusOf = async (token: string) => {
    const response = await app.fetch(new Request('http://localhost/v1/account', { headers: { authorization: `Bearer ${token}` } }))
    return response.status
  }
  const statuses = await Promise.all(tokens.map(statusOf))
  await app.services.usage.settled()
  await close()
  return statuses
}
