import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addMember, endMembership } from '../../src/admin/memberships.ts'
import { revokeToken } from '../../src/admin/tokens.ts'
import { addUser } from '../../src/admin/users.ts'
import { createWorkspace } from '../../src/admin/workspaces.ts'
import { issueToken } from '../../src/auth/tokens/issue.ts'
import { systemRandom } from '../../src/model/ids.ts'
import { systemClock } from '../../src/model/time.ts'
import { type Deps, transact } from '../../src/store/transact.ts'
import { openRedisStore } from '../../src/store/redis/store.ts'
import { effort } from '../support/effort.ts'
import { quiet } from '../support/log.ts'
import { CommandHost } from '../support/process.ts'
import { sendTo, startProcesses, type Processes } from '../support/processes.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'

/** A workspace member with a token. */
interface Member {
  readonly userId: string
  readonly tokenId: string
  readonly token: string
}

interface Scenario {
  readonly deps: Deps
  readonly workspace: string
  readonly board: string
  readonly runCommand: (...args: string[]) => Promise<unknown>
  /** sends a request of the board's creator to a random process */
  readonly sendAsCreator: (method: string, path: string, body?: object) => Promise<unknown>
}

/** A way in which access ends: how it is revoked, a request that shows it, and the status of that request afterwards. */
type Revocation = [
  what: string,
  rounds: number,
  revoke: (scenario: Scenario, member: Member) => Promise<unknown>,
  path: (board: string) => string,
  status: number,
]

const revocations: Revocation[] = [
  ['a token is revoked', effort(30), ({ deps, workspace }, { tokenId }) => revokeToken(deps, workspace, tokenId), () => '/account', 401],
  [
    'a membership is ended',
    effort(30),
    ({ deps, workspace }, { userId }) => endMembership(deps, workspace, userId),
    (board) => `/boards/${board}`,
    401,
  ],
  [
    'a token is revoked on the command line',
    effort(2),
    ({ workspace, runCommand }, { tokenId }) => runCommand('token', 'revoke', workspace, tokenId),
    () => '/boards',
    401,
  ],
  [
    'a member is removed on the command line',
    effort(2),
    ({ workspace, runCommand }, { userId }) => runCommand('member', 'remove', workspace, userId),
    () => '/account',
    401,
  ],
  [
    'a board is made private by any process',
    effort(30),
    ({ board, sendAsCreator }) => sendAsCreator('PUT', `/boards/${board}/visibility`, { visibility: 'private' }),
    (board) => `/boards/${board}`,
    404,
  ],
  [
    'a board is deleted by any process',
    effort(20),
    ({ board, sendAsCreator }) => sendAsCreator('DELETE', `/boards/${board}`),
    (board) => `/boards/${board}/cards`,
    404,
  ],
]

describe('revocation with four processes on one Redis', () => {
  let server: RedisServer
  let processes: Processes
  let deps: Deps
  let host: CommandHost
  beforeAll(async () => {
    server = await startRedis()
    host = new CommandHost({ LANEKEEPER_STORAGE: server.url })
    deps = { store: await openRedisStore(server.url, { log: quiet }), clock: systemClock, random: systemRandom }
    processes = await startProcesses(4, server.url)
  })
  afterAll(async () => {
    await processes.stop()
    await deps.store.close()
    await server.stop()
  })

  async function createMember(workspace: string): Promise<Member> {
    const user = await addUser(deps, { display_name: 'A member' })
    await addMember(deps, workspace, user, 'member')
    const tokenRequest = { userId: user.id, name: 'test', scopes: ['kanban:admin'] }
    const { token, plaintext } = await transact(deps.store, workspace, deps.random, (tx) => issueToken(tx, tokenRequest, deps))
    return { userId: user.id, tokenId: token.id, token: plaintext }
  }

  test.each(revocations)(
    'after %s, no process serves a later request',
    { timeout: 3_600_000 },
    async (_what, rounds, revoke, pathOf, status) => {
      const { id: workspace } = await createWorkspace(deps, 'Acme')
      const creator = await createMember(workspace)
      const sendToAny = sendTo(processes.urls)
      const sendAsCreator = async (method: string, path: string, body?: object): Promise<any> => {
        const response = await sendToAny({ token: creator.token, method, path, body })
        if (response === 'unanswered' || response.status >= 300) throw new Error(JSON.stringify(response))
        return response.body.data
      }
      const runCommand = async (...args: string[]) => {
        const { code, stderr } = await host.run(args)
        if (code !== 0) throw new Error(stderr)
      }
      for (let round = 0; round < rounds; round++) {
        const member = await createMember(workspace)
        const board: string = (await sendAsCreator('POST', '/boards', { name: 'Board' })).id
        const sendToAll = () =>
          Promise.all(
            processes.urls.map(async (url) => {
              const response = await sendTo([url])({ token: member.token, method: 'GET', path: pathOf(board) })
              return response === 'unanswered' ? 'unanswered' : response.status
            }),
          )
        // Each process has served the member, and serves them during the revocation. No cached state may grant access.
        expect(await sendToAll()).toEqual([200, 200, 200, 200])
        const during = sendToAll()
        await revoke({ deps, workspace, board, runCommand, sendAsCreator }, member)
        const after = [sendToAll(), sendToAll()]
        for (const statuses of await Promise.all(after)) expect(statuses).toEqual([status, status, status, status])
        for (const duringStatus of await during) expect([200, status]).toContain(duringStatus)
      }
    },
  )
})
