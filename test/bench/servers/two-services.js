// What audit.js and decision-log.js share: one process with two services on the same memory, without something and with it.
import { pino } from 'pino'
import { addMember } from '../../../dist/admin/memberships.js'
import { addUser } from '../../../dist/admin/users.js'
import { createWorkspace } from '../../../dist/admin/workspaces.js'
import { createApp } from '../../../dist/app.js'
import { loadPolicy } from '../../../dist/authz/shipped-policy.js'
import { issueToken } from '../../../dist/auth/tokens/issue.js'
import { startListener } from '../../../dist/listener/listener.js'
import { systemRandom as random } from '../../../dist/model/ids.js'
import { systemClock as clock } from '../../../dist/model/time.js'
import { openStorage } from '../../../dist/store/open.js'
import { transact } from '../../../dist/store/transact.js'

export const log = pino({ level: 'error' }, pino.destination({ dest: 2, sync: true }))
export const engine = loadPolicy()
const { store, blobs } = await openStorage('memory', { log })
export const deps = { store, blobs, clock, random }

/**
 * Starts both services, and sends the parent process their URLs with a token for both.
 * @param added the options of the second service that the first one does not have
 * @returns the apps: without it, and with it
 */
export async function startBoth(added) {
  const quota = 1_000_000_000
  const options = { store, blobs, log, engine, rateLimits: { quotas: { token: quota, workspace: quota, address: quota } } }
  const apps = [createApp(options), createApp({ ...options, ...added })]
  const listeners = await Promise.all(apps.map(({ h3 }) => startListener(h3, { port: 0, host: '127.0.0.1' })))

  const user = await addUser(deps, { display_name: 'Ann' })
  const { id } = await createWorkspace(deps, 'Acme')
  await addMember(deps, id, user, 'owner')
  const { plaintext } = await transact(store, id, random, (tx) =>
    issueToken(tx, { userId: user.id, name: 'benchmark', scopes: ['kanban:admin'] }, { clock, random }),
  )
  process.send({ urls: listeners.map(({ url }) => url), token: plaintext, url: listeners[0].url })
  return apps
}
