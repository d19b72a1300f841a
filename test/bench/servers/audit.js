// One process with two services on the same memory: one keeps an audit trail and counts the uses of tokens, the other does neither.
import { pino } from 'pino'
import { addMember } from '../../../dist/admin/memberships.js'
import { addUser } from '../../../dist/admin/users.js'
import { createWorkspace } from '../../../dist/admin/workspaces.js'
import { createApp, loadPolicy } from '../../../dist/app.js'
import { AuditRecorder } from '../../../dist/audit/recorder.js'
import { issueToken } from '../../../dist/auth/tokens/issue.js'
import { startListener } from '../../../dist/http/server.js'
import { systemRandom as random } from '../../../dist/model/ids.js'
import { systemClock as clock } from '../../../dist/model/time.js'
import { openStorage } from '../../../dist/store/open.js'
import { transact } from '../../../dist/store/transact.js'

const log = pino({ level: 'error' }, pino.destination({ dest: 2, sync: true }))
const { store, blobs } = await openStorage('memory', { log })
const engine = loadPolicy()
const quota = 1_000_000_000
const options = { store, blobs, log, engine, rateLimits: { quotas: { token: quota, workspace: quota, address: quota } } }
const deps = { store, blobs, clock, random }
const apps = [createApp(options), createApp({ ...options, audit: new AuditRecorder(deps, log) })]
Object.assign(apps[0].services, { activity: { observe: () => undefined } })
const listeners = await Promise.all(apps.map(({ h3 }) => startListener(h3, { port: 0, host: '127.0.0.1' })))

const user = await addUser(deps, { display_name: 'Ann' })
const { id } = await createWorkspace(deps, 'Acme')
await addMember(deps, id, user, 'owner')
const { plaintext } = await transact(store, id, random, (tx) =>
  issueToken(tx, { userId: user.id, name: 'benchmark', scopes: ['kanban:admin'] }, clock, random),
)
process.send({ urls: listeners.map(({ url }) => url), token: plaintext, url: listeners[0].url })
