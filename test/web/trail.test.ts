import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { GLOBAL } from '../../src/store/keys.ts'
import { entriesOf, startWithAudit } from '../support/audit-trail.ts'
import { TestBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'
import type { Person } from '../support/service.ts'
import { signedIn, type Visitor } from '../support/visitor.ts'

const { service, recorder } = await startWithAudit(memory)
afterAll(() => service.stop())
let member: Person
let visitor: Visitor
let boardId: string
beforeEach(async () => {
  const workspaceId = await service.workspace()
  member = await service.person(workspaceId)
  visitor = await signedIn(service, member)
  boardId = (await TestBoard.create(service, await service.person(workspaceId), 'private')).id
})

const entriesIn = (partition: string, send: () => Promise<unknown>) => entriesOf(service, recorder, partition, send)
const own = (entries: readonly { operation: string; outcome: string; ids: readonly string[] }[]) =>
  entries.map(({ operation, outcome, ids }) => [operation, outcome, ids])

describe('the audit trail of the web app', () => {
  test.each([
    ['boards/{id}', 'boards.read'],
    ['boards/{id}/changes', 'boards.changes'],
    ['events?board={id}', 'boards.events'],
  ])('has a board that is hidden from the person who asks for it: %j', async (place, operation) => {
    const path = `/app/${member.workspaceId}/${place.replace('{id}', boardId)}`
    const entries = await entriesIn(member.workspaceId, () => visitor.request(path))
    expect(own(entries)).toEqual([[`web.${operation}`, 'denied', [boardId]]])
    expect(entries[0]).toMatchObject({ user_id: member.id, token_id: null, status: 404 })
  })

  test('of a workspace has nothing of those who are not its members, and nothing that is no id', async () => {
    const other = await service.workspace()
    const crafted = `crd_x%1B[2J${'y'.repeat(3000)}`
    const addresses = [`/app/${other}/cards/crd_00000000000000000000`, `/app/global/cards/x`, `/app/nonsense/cards/${crafted}`]
    const ask = async () => {
      for (const address of addresses) await visitor.request(address)
    }
    expect(await entriesIn(other, ask)).toEqual([])
    expect((await entriesIn(GLOBAL, ask)).map(({ ids, count = 1 }) => [ids, count])).toEqual([
      [['crd_00000000000000000000'], 1],
      [[], 2],
    ])
  })

  test('has a form that was not accepted, and one about the resource of another person', async () => {
    const path = `/settings/tokens/${member.workspaceId}/tok_00000000000000000000/revoke`
    const form_token = visitor.formToken
    const entries = await entriesIn(GLOBAL, async () => {
      expect((await visitor.post(path, { form_token: 'wrong' })).status).toBe(403)
      expect((await visitor.post(path, { form_token })).status).toBe(404)
    })
    expect(entries.map(({ operation, outcome, status }) => [operation, outcome, status])).toEqual([
      ['web.tokens.revoke', 'denied', 403],
      ['web.tokens.revoke', 'denied', 404],
    ])
  })

  test('has the tokens that "Revoke all my tokens" has ended, in their workspace', async () => {
    const ids = await visitor.tokenIds()
    await visitor.open('/settings/account/revoke-tokens')
    const send = () => visitor.submit({}, '/settings/account/revoke-tokens')
    const [entry, ...rest] = await entriesIn(member.workspaceId, send)
    expect(rest).toEqual([])
    expect({ operation: entry!.operation, outcome: entry!.outcome, ids: [...entry!.ids].toSorted() }).toEqual({
      operation: 'web.account.revoke_tokens',
      outcome: 'done',
      ids: ids.toSorted(),
    })
    expect(ids.length).toBeGreaterThan(0)
  })

  test('has no second revocation of a token that has ended', async () => {
    const [id] = await visitor.tokenIds()
    const path = `/settings/tokens/${member.workspaceId}/${id}/revoke`
    const form_token = visitor.formToken
    const revoke = () => visitor.post(path, { form_token })
    expect(own(await entriesIn(member.workspaceId, revoke))).toEqual([['web.tokens.revoke', 'done', [id]]])
    expect(await entriesIn(member.workspaceId, revoke)).toEqual([])
  })
})
