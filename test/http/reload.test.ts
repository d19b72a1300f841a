import { describe, expect, onTestFinished, test } from 'vitest'
import { decorateStore } from '../../src/store/port.ts'
import { TestBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'
import { otherFiles } from '../support/other-policy.ts'
import { load, shipped } from '../support/policy.ts'
import { Service } from '../support/service.ts'

const other = load(otherFiles)
const engines = new Map([shipped, other].map((engine) => [engine.hash, engine]))

/** A service with a board of one person, and another member. */
async function setUp() {
  const service = await Service.start(memory, { engine: shipped })
  onTestFinished(() => service.stop())
  const workspaceId = await service.workspace()
  const [creator, member] = [await service.person(workspaceId, 'owner'), await service.person(workspaceId)]
  const board = await TestBoard.create(service, creator)
  const [labelId, columnId] = [await board.label(), await board.column()]
  // Not with `service.send`, which compares each response with the document of the shipped policy.
  const send = async (token: string, method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    return (await service.app.fetch(new Request(`http://localhost/v1${path}`, init))).status
  }
  const rename = () => send(member.write, 'PATCH', `/labels/${labelId}`, { name: 'New' })
  const restore = () => send(creator.write, 'POST', `/columns/${columnId}/restore`)
  const list = () => send(member.read, 'GET', '/boards')
  return { service, creator, rename, restore, list }
}

// One that does not hold is not loaded: policy/, start/reload.test.ts.
describe('a new policy', () => {
  test('decides the next request', async () => {
    const { service, rename, restore } = await setUp()
    expect({ rename: await rename(), restore: await restore() }).toEqual({ rename: 200, restore: 200 })
    service.app.replacePolicy(other)
    expect({ rename: await rename(), restore: await restore() }).toEqual({ rename: 403, restore: 403 })
    service.app.replacePolicy(shipped)
    expect({ rename: await rename(), restore: await restore() }).toEqual({ rename: 200, restore: 200 })
  })

  test('is in use at /readyz, in the document, in MCP and on the pages of tokens', async () => {
    const { service, creator } = await setUp()
    const text = async (path: string, init?: RequestInit) => (await service.app.fetch(new Request(`http://localhost${path}`, init))).text()
    const scopeOf = async () =>
      JSON.parse(await text('/openapi.json')).paths['/columns/{column_id}/restore'].post.security[0].accessToken[0] as string
    const tools = async () => {
      const headers = {
        authorization: `Bearer ${creator.write}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
      return text('/mcp', { method: 'POST', headers, body })
    }
    const before = [JSON.parse(await text('/readyz')).policy, await scopeOf()]
    const listed = await tools()
    service.app.replacePolicy(other)
    expect({ before, after: [JSON.parse(await text('/readyz')).policy, await scopeOf()] }).toEqual({
      before: [shipped.hash, 'kanban:write'],
      after: [other.hash, 'kanban:admin'],
    })
    expect({ offersRestore: listed.includes('restore'), isUnchanged: (await tools()) === listed }).toEqual({
      offersRestore: true,
      isUnchanged: false,
    })
  })

  test('does not decide a request in flight, which ends under the policy it began with', async () => {
    const { service, rename } = await setUp()
    let reached: () => void
    let release = () => undefined as void
    const isReached = new Promise<void>((resolve) => (reached = resolve))
    const held = new Promise<void>((resolve) => (release = resolve))
    let first = true
    const inner = service.app.services.store
    Object.assign(service.app.services, {
      store: decorateStore(inner, {
        async read(partition, request) {
          if (first) {
            first = false
            reached()
            await held
          }
          return inner.read(partition, request)
        },
      }),
    })
    const answer = rename()
    await isReached
    service.app.replacePolicy(other)
    release()
    expect(await answer).toBe(200)
    expect(service.records.at(-1)).toMatchObject({ policy: shipped.hash, decision: { outcome: 'allowed', rules: ['X4'] } })
  })

  test('no request fails while policies are replaced again and again, and each is decided by one policy alone', async () => {
    const { service, rename, restore, list } = await setUp()
    const { records } = service
    records.length = 0
    const statuses: number[] = []
    for (let round = 0; round < 20; round++) {
      const answers = Promise.all([rename, restore, list, rename, restore, list].map((send) => send()))
      for (let turn = 0; turn < round % 4; turn++) await Promise.resolve()
      service.app.replacePolicy(round % 2 === 0 ? other : shipped)
      statuses.push(...(await answers))
    }
    expect(statuses.filter((status) => status !== 200 && status !== 403)).toEqual([])
    expect(new Set(records.map(({ policy }) => policy)).size).toBe(2)
    for (const { policy, scope, decision } of records) {
      const engine = engines.get(policy)!
      if (decision !== undefined) expect(engine.decide(decision.permission, decision.facts, decision.fields)).toEqual(decision)
      if (scope !== undefined) expect(scope).toMatchObject({ row: engine.checkScope(scope.permission, { 'token.scope': 'none' }).row })
    }
  })
})
