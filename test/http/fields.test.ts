import { describe, expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { recordUses } from '../support/board.ts'
import { causeNotice } from '../support/cause-notice.ts'
import { buildWorld, createAllowed, pathOf } from '../support/scenario.ts'
import { Service } from '../support/service.ts'

const row = (id: string) => operations.find((operation) => operation.id === id)!
/** What answers with bytes or a stream, written by hand: there is nothing to select. */
const WITHOUT_FIELDS = new Set(['attachments.download', 'boards.events'])
const reads = operations.filter(({ id, method }) => method === 'GET' && !WITHOUT_FIELDS.has(id))
// Unknown parameters of other operations: openapi/errors.test.ts. Lists with commas and repeated ones: resources/filters.test.ts.

describe('?fields=', async () => {
  const service = await Service.forSuite()
  const world = await buildWorld(service)
  const scenario = await createAllowed(world, row('cards.read'), { hasWebhook: true })
  await recordUses(service, scenario.caller)
  await causeNotice(service, scenario)
  await service.send(scenario.caller.admin, 'PUT', pathOf('/cards/{card_id}/claim', scenario), {})
  await service.send(scenario.caller.admin, 'POST', pathOf('/webhooks/{webhook_id}/test', scenario))
  const get = (id: string, query: string, headers: Record<string, string> = {}) =>
    service.send(scenario.caller.admin, 'GET', `${pathOf(row(id).path, scenario)}?${query}`, undefined, headers)
  const itemsOf = (data: any): Record<string, unknown>[] => (Array.isArray(data) ? data : [data])

  test.each(reads.map(({ id }) => id))('%s returns each of its members alone, with its id', async (id) => {
    const all = itemsOf((await get(id, '')).body.data)
    const names = [...new Set(all.flatMap((item) => Object.keys(item)))]
    for (const name of names) {
      const { status, body } = await get(id, `fields=${name}`)
      const expected = all.map((item) => Object.fromEntries(Object.entries(item).filter(([other]) => other === name || other === 'id')))
      expect({ name, status, items: itemsOf(body.data) }).toEqual({ name, status: 200, items: expected })
    }
    expect((await get(id, `fields=${names.join()}`)).body.data).toEqual((await get(id, '')).body.data)
  })

  test('a member that is null stays null', async () => {
    await service.send(scenario.caller.admin, 'DELETE', pathOf('/cards/{card_id}/claim', scenario))
    expect(await get('claims.read', 'fields=epoch')).toMatchObject({ status: 200, body: { data: null } })
    await service.send(scenario.caller.admin, 'PUT', pathOf('/cards/{card_id}/claim', scenario), {})
  })

  test.each(reads.map(({ id }) => id))('%s refuses a name that is no member, and says what there is', async (id) => {
    const names = Object.keys(itemsOf((await get(id, '')).body.data)[0] ?? {})
    for (const name of ['titel', '__proto__', 'constructor', 'id.x', '', '*']) {
      const { status, body } = await get(id, `fields=${names[0] ?? ''},${name}`)
      expect({ status, issues: body.error.issues }).toMatchObject({ status: 422, issues: [{ in: 'query', path: 'fields' }] })
      const { message } = body.error.issues[0]
      expect(message.startsWith(`names "${names.length === 0 ? '' : name}", which is not one of `)).toBe(true)
      expect(names.filter((known) => !message.split(/ of |, /).includes(known))).toEqual([])
    }
  })

  test.each([
    ['fields=title, position', ['id', 'title', 'position']],
    ['fields=position,title,title', ['id', 'title', 'position']],
    ['fields=counts&include=counts', ['id', 'counts']],
    ['include=counts&fields=title', ['id', 'title']],
  ])('?%s selects %s of a card, in the order of the resource', async (query, names) => {
    expect(Object.keys((await get('cards.read', query)).body.data)).toEqual(names)
    const list = await get('cards.list', query)
    expect([list.body.data.length, ...list.body.data.map(Object.keys)]).toEqual([2, names, names])
    expect(Object.keys(list.body.page)).toEqual(['next_cursor'])
  })

  test.each([
    ['cards.list', 'fields=title,etag', 'etag'],
    ['cards.list', 'fields=etag,counts&include=etag', 'counts'],
    ['cards.read', 'fields=counts', 'counts'],
    ['boards.read', 'fields=cards', 'cards'],
    ['boards.read', 'fields=labels,cards&include=labels', 'cards'],
  ])('%s?%s is refused without the parameter that adds the member, which would be silently absent', async (id, query, name) => {
    const { status, body } = await get(id, query)
    const message = `names "${name}", which is only there with include=${name}`
    expect({ status, issues: body.error?.issues }).toEqual({ status: 422, issues: [{ in: 'query', path: 'fields', message }] })
  })

  test('a long name is not repeated as a whole', async () => {
    const { body } = await get('cards.read', `fields=${'x'.repeat(5000)}`)
    expect(body.error.issues[0].message.length).toBeLessThan(1000)
  })

  test("the ETag is the resource's, and works in conditions", async () => {
    const etag = (await get('cards.read', '')).headers.get('etag')!
    const some = await get('cards.read', 'fields=title')
    expect({ etag: some.headers.get('etag'), status: (await get('cards.read', 'fields=title', { 'if-none-match': etag })).status }).toEqual(
      { etag, status: 304 },
    )
    const card = pathOf('/cards/{card_id}', scenario)
    expect((await service.send(scenario.caller.write, 'PATCH', card, { title: 'New' }, { 'if-match': etag })).status).toBe(200)
    expect((await get('cards.read', 'fields=title', { 'if-none-match': etag })).body.data).toEqual({
      id: scenario.params['card_id'],
      title: 'New',
    })
  })

  test('a page of a list is found again by its cursor', async () => {
    const first = await get('cards.list', 'fields=title&limit=1')
    const second = await get('cards.list', `fields=title&limit=1&cursor=${first.body.page.next_cursor}`)
    expect([...first.body.data, ...second.body.data]).toEqual((await get('cards.list', 'fields=title')).body.data)
  })
})
