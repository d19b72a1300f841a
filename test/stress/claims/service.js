// The service on a storage, with a clock that tests move: the clock of this machine, what the clock file says, and the skew of this
// process, in milliseconds. A file, because several processes move in the same moment, also while one of them starts.
import { readFileSync } from 'node:fs'
import { pino } from 'pino'
import { addMember } from '../../../dist/admin/memberships.js'
import { addUser } from '../../../dist/admin/users.js'
import { createWorkspace } from '../../../dist/admin/workspaces.js'
import { createApp } from '../../../dist/app.js'
import { issueToken } from '../../../dist/auth/tokens/issue.js'
import { startListener } from '../../../dist/listener/listener.js'
import { systemRandom as random } from '../../../dist/model/ids.js'
import { createDerivations } from '../../../dist/resources/derived.js'
import { openStorage } from '../../../dist/store/open.js'
import { transact } from '../../../dist/store/transact.js'

const [address, clockFile, skew, port, tokenCount] = process.argv.slice(2)
const clock = () => Date.now() + Number(skew) + Number(readFileSync(clockFile, 'utf8'))
const log = pino({ level: 'error' }, pino.destination({ dest: 2, sync: true }))
const { store, blobs } = await openStorage(address, { log, derived: createDerivations() })
const deps = { store, blobs, clock, random }
const app = createApp({ ...deps, log })
await startListener(app.h3, { port: Number(port), host: '127.0.0.1' })
process.send({ tokens: await createTokens(Number(tokenCount)) })

async function createTokens(count) {
  if (count === 0) return []
  const user = await addUser(deps, { display_name: 'Ann' })
  const { id } = await createWorkspace(deps, 'Acme')
  await addMember(deps, id, user, 'owner')
  const issued = await transact(store, id, random, async (tx) => {
    const request = (i) => ({ userId: user.id, name: `token ${i}`, scopes: ['kanban:admin'] })
    const all = []
    for (let i = 0; i < count; i++) all.push(await issueToken(tx, request(i), { clock, random }))
    return all
  })
  return issued.map(({ token, plaintext }) => ({ id: token.id, plaintext }))
}
