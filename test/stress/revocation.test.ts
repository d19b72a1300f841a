import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import { systemClock } from '../../src/model/time.ts'
import { addMember, endMembership } from '../../src/admin/memberships.ts'
import { revokeToken } from '../../src/admin/tokens.ts'
import type { Deps } from '../../src/admin/deps.ts'
import { addUser } from '../../src/admin/users.ts'
import { createWorkspace } from '../../src/admin/workspaces.ts'
import { openRedisStore } from '../../src/store/redis/store.ts'
import { transact } from '../../src/store/transact.ts'
import { issueToken } from '../../src/auth/tokens/issue.ts'
import { effort } from '../support/effort.ts'
import { quiet } from '../support/log.ts'
import { sendTo, startProcesses, type Processes } from '../support/processes.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const run = promisify(execFile)

interface Someone {
  readonly user: string
  readonly id: string
  readonly token: string
}

/** Ways in which a right ends, what shows it, and what is answered from then on. */
type Way = [
  what: string,
  rounds: number,
  end: (stage: Stage, bob: Someone) => Promise<unknown>,
  path: (board: string) => string,
  status: number,
]
interface Stage {
  readonly tools: Deps
  readonly workspace: string
  readonly board: string
  readonly ann: Someone
  readonly cli: (...args: string[]) => Promise<unknown>
  readonly asAnn: (method: string, path: string, body?: object) => Promise<unknown>
}

const ways: Way[] = [
  ['a token is revoked', effort(30), ({ tools, workspace }, bob) => revokeToken(tools, workspace, bob.id), () => '/account', 401],
  [
    'a member leaves',
    effort(30),
    ({ tools, workspace }, bob) => endMembership(tools, workspace, bob.user),
    (board) => `/boards/${board}`,
    401,
  ],
  [
    'a token is revoked by the command line',
    effort(2),
    ({ workspace, cli }, bob) => cli('token', 'revoke', workspace, bob.id),
    () => '/boards',
    401,
  ],
  [
    'a member is removed by the command line',
    effort(2),
    ({ workspace, cli }, bob) => cli('member', 'remove', workspace, bob.user),
    () => '/account',
    401,
  ],
  [
    'a board is made private, by any of the processes',
    effort(30),
    ({ board, asAnn }) => asAnn('PUT', `/boards/${board}/visibility`, { visibility: 'private' }),
    (board) => `/boards/${board}`,
    404,
  ],
  [
    'a board is deleted, by any of the processes',
    effort(20),
    ({ board, asAnn }) => asAnn('DELETE', `/boards/${board}`),
    (board) => `/boards/${board}/cards`,
    404,
  ],
]

describe('revocation, over four processes on one Redis', () => {
  let server: RedisServer
  let processes: Processes
  let tools: Deps
  beforeAll(async () => {
    server = await startRedis()
    tools = { store: await openRedisStore(server.url, { log: quiet }), clock: systemClock, random: systemRandom }
    processes = await startProcesses(4, server.url)
  })
  afterAll(async () => {
    await processes.stop()
    await tools.store.close()
    await server.stop()
  })

  async function someone(workspace: string): Promise<Someone> {
    const user = await addUser(tools, { display_name: 'Someone' })
    await addMember(tools, workspace, user, 'member')
    const wanted = { userId: user.id, name: 'test', scopes: ['kanban:admin'] }
    const { token, plaintext } = await transact(tools.store, workspace, tools.random, (tx) =>
      issueToken(tx, wanted, tools.clock, tools.random),
    )
    return { user: user.id, id: token.id, token: plaintext }
  }

  test.each(ways)('%s: no request that starts afterwards succeeds', { timeout: 3_600_000 }, async (_what, rounds, end, pathOf, status) => {
    const { id: workspace } = await createWorkspace(tools, 'Acme')
    const ann = await someone(workspace)
    const anywhere = sendTo(processes.urls)
    const asAnn = async (method: string, path: string, body?: object): Promise<any> => {
      const answer = await anywhere({ token: ann.token, method, path, body })
      if (answer === 'lost' || answer.status >= 300) throw new Error(JSON.stringify(answer))
      return answer.body.data
    }
    const cli = (...args: string[]) =>
      run(process.execPath, [main, ...args], { env: { PATH: process.env['PATH'], LANEKEEPER_STORAGE: server.url } })
    for (let round = 0; round < rounds; round++) {
      const bob = await someone(workspace)
      const board: string = (await asAnn('POST', '/boards', { name: 'Board' })).id
      const everywhere = () =>
        Promise.all(
          processes.urls.map(async (url) => {
            const answer = await sendTo([url])({ token: bob.token, method: 'GET', path: pathOf(board) })
            return answer === 'lost' ? 'lost' : answer.status
          }),
        )
      // Each process has served it, and serves it while the right ends: nothing that one remembers may count.
      expect(await everywhere()).toEqual([200, 200, 200, 200])
      const meanwhile = everywhere()
      await end({ tools, workspace, board, ann, cli, asAnn }, bob)
      const afterwards = [everywhere(), everywhere()]
      for (const answers of await Promise.all(afterwards)) expect(answers).toEqual([status, status, status, status])
      for (const answer of await meanwhile) expect([200, status]).toContain(answer)
    }
  })
})
