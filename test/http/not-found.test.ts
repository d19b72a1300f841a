import { describe, expect, test } from 'vitest'
import { Recalls } from '../../src/http/recalls.ts'
import { operations } from '../../src/resources/table.ts'
import { recordUses } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { questionOf } from '../support/evaluations.ts'
import { bytes, Service } from '../support/service.ts'
import { buildWorld, createScenario, exampleBody } from '../support/scenario.ts'

type Ids = Readonly<Record<string, string>>

const withIds = operations.filter(({ path }) => path.includes('{')).map((row) => [row.id, row] as const)
const CALLER = { 'caller.role': 'owner', 'caller.membership': 'active' }
const PRIVATE = { ...CALLER, 'board.visibility': 'private', 'board.caller': 'creator', 'file.owner': 'caller', 'comment.author': 'caller' }
const HIDDEN = { ...CALLER, 'board.visibility': 'private', 'board.caller': 'none', 'file.owner': 'other', 'file.visibility': 'private' }

/** Texts that are not the id of any resource. */
const malformed: [reason: string, change: (id: string) => string][] = [
  ['malformed', () => 'nonsense'],
  ['in another case', (id) => id.toUpperCase()],
  ['with a null byte', () => 'brd_%00'],
  ['with a broken escape', () => '%ZZ'],
  ['with an escaped slash', () => 'brd_%2f..%2f'],
  ['very long', (id) => id.repeat(100)],
  ['a property of the prototype', () => '__proto__'],
]

describe.each(drivers)('404, on $name', async (driver) => {
  /** reason for a 404 → ids that are wrong for this reason */
  const wrongIds = new Map<string, Ids>()
  const service = await Service.forSuite(driver)
  const world = await buildWorld(service)
  /** a scenario where the caller can see everything */
  const visible = (await createScenario(world, PRIVATE))!
  /** a scenario on a private board of another person */
  const hidden = (await createScenario(world, HIDDEN))!
  const otherWorld = await buildWorld(service)
  const foreign = (await createScenario(otherWorld, PRIVATE))!
  const foreignHidden = (await createScenario(otherWorld, HIDDEN))!
  const changed = (change: (id: string) => string) =>
    Object.fromEntries(Object.entries(visible.params).map(([name, id]) => [name, change(id)]))
  const absent = changed((id) => `${id.slice(0, 4)}00000000000000000000`)
  wrongIds.set('absent', absent)
  wrongIds.set('of another workspace', { ...foreign.params, user_id: otherWorld.other.id })
  wrongIds.set('private in another workspace', { ...foreignHidden.params, user_id: otherWorld.other.id })
  wrongIds.set('private', { ...hidden.params, user_id: absent['user_id']! })
  const { user_id, board_id } = visible.params
  wrongIds.set(
    'of another kind',
    changed((id) => (id === user_id ? board_id! : user_id!)),
  )
  for (const [reason, change] of malformed) wrongIds.set(reason, changed(change))

  const fill = (path: string, ids: Ids) => path.replace(/\{(\w+)\}/g, (_match, name: string) => ids[name]!)
  /** Checks that all responses are the same 404. @param responses reason → response @param members further members of the error */
  function expectOneResponse(responses: ReadonlyMap<string, string>, members: { readonly parameter?: string } = {}): void {
    const reasons = new Map<string, string[]>()
    for (const [reason, text] of responses) reasons.set(text, [...(reasons.get(text) ?? []), reason])
    expect([...reasons.values()]).toEqual([[...responses.keys()]])
    const [text] = reasons.keys()
    expect(text).toMatch(/^404\n/)
    expect(JSON.parse(text!.split('\n').at(-1)!)).toEqual({
      error: {
        code: 'not_found',
        message: expect.stringContaining(members.parameter ?? 'There is no such resource'),
        request_id: '<id>',
        ...members,
      },
    })
  }

  test.each(withIds)(
    '%s has one 404 response, and one answer to its evaluation, for each id of its path, whatever is wrong with that id',
    async (id, { method, path }) => {
      const body = exampleBody(id, visible) as object | undefined
      for (const [i, [, name]] of [...path.matchAll(/\{(\w+)\}/g)].entries()) {
        const responses = new Map<string, string>()
        const evaluations = new Set<string>()
        service.store.touched.length = 0
        for (const [reason, ids] of wrongIds) {
          const params = { ...visible.params, [name!]: ids[name!]! }
          responses.set(reason, bytes(await service.send(visible.caller.admin, method, fill(path, params), body)))
          // A longer id is no valid question.
          if (params[name!]!.length > 100) continue
          evaluations.add(
            bytes(await service.send(visible.caller.admin, 'POST', '/access/evaluation', questionOf({ id, path }, params, body))),
          )
        }
        // What is no id is not looked for.
        expect(service.store.touched.filter((key) => key.includes('nonsense'))).toEqual([])
        // Only the first id of a path says what the path leads to.
        expectOneResponse(responses, i === 0 ? {} : { parameter: name! })
        expect([...evaluations]).toEqual([expect.stringContaining('not_found')])
      }
    },
  )

  // On Redis, each further round trip would take a time that a client can measure.
  test.each(withIds)('%s takes the same number of round trips for a hidden resource as for an absent one', async (id, { method, path }) => {
    await recordUses(service, visible.caller)
    const roundTrips = async (ids: Ids) => {
      const before = service.store.trips
      const reply = await service.send(visible.caller.admin, method, fill(path, ids), exampleBody(id, { ...visible, params: ids }))
      expect(reply.status).toBe(404)
      return service.store.trips - before
    }
    for (const reason of ['absent', 'of another workspace', 'private in another workspace', 'private']) {
      service.forgetTokens()
      expect([reason, await roundTrips(wrongIds.get(reason)!)]).toEqual([reason, 2])
      expect([reason, await roundTrips(wrongIds.get(reason)!)]).toEqual([reason, 1])
    }
    service.forgetTokens()
    expect(await roundTrips(hidden.params)).toBe(2)
    expect(await roundTrips(hidden.params)).toBe(1)
  })

  /** Filters that name something, by the list and the parameter whose id they take. Malformed ids: resources/filters.test.ts. */
  const filters = [
    ['column_id', '/boards/{board_id}/cards', 'column_id'],
    ['label_id', '/boards/{board_id}/cards', 'label_id'],
    ['assignee_id', '/boards/{board_id}/cards', 'user_id'],
    ['board_id', '/cards', 'board_id'],
    ['column_id', '/cards', 'column_id'],
    ['label_id', '/cards', 'label_id'],
    ['blocker_id', '/cards', 'blocker_id'],
    ['assignee_id', '/cards', 'user_id'],
    ['completed_by', '/cards', 'user_id'],
  ] as const
  const ABSENT = ['absent', 'of another workspace', 'private in another workspace', 'private']
  /** Ids of filters that lead to nothing. */
  const absentIds = async (list: string, parameter: string): Promise<[reason: string, id: string][]> => {
    const ids = ABSENT.map((reason): [string, string] => [reason, wrongIds.get(reason)![parameter]!])
    if (parameter === 'user_id') return [...ids, ['a former member', world.callers.get('member ended')!.id]]
    if (list === '/cards') return ids
    const otherBoard = (await createScenario(world, { ...CALLER, 'board.visibility': 'workspace', 'board.caller': 'creator' }))!
    return [...ids, ['of another visible board', otherBoard.params[parameter]!]]
  }

  test.each(filters)(
    'the filter %s of %s has one 404 response for an absent, a foreign and a hidden resource, in as many round trips',
    async (filter, list, parameter) => {
      await recordUses(service, visible.caller)
      const responses = new Map<string, string>()
      const send = (id: string) => service.send(visible.caller.read, 'GET', `${fill(list, visible.params)}?${filter}=${id}`)
      const ids = await absentIds(list, parameter)
      Object.assign(service.app.services, { recalls: new Recalls() })
      await send(ids[0]![1])
      // The credential, with the target if there is one, and what the filter names. On Redis, the process remembers the first of them.
      const expected = driver.name === 'redis' && list !== '/cards' ? 1 : 2
      for (const [reason, id] of ids) {
        const before = service.store.trips
        responses.set(reason, bytes(await send(id)))
        expect([reason, service.store.trips - before]).toEqual([reason, expected])
      }
      expectOneResponse(responses, { parameter: filter })
    },
  )
})
