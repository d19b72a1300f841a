import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/operations/table.ts'
import { drivers } from '../support/drivers.ts'
import { bytes, Service, type Person } from '../support/service.ts'

/** A body that each operation takes: what is not there is not found whatever one wants of it. */
const bodies: Record<string, unknown> = { 'boards.update': { name: 'x' }, 'boards.set_visibility': { visibility: 'private' } }
const withId = operations.filter(({ path }) => path.includes('{'))

describe.each(drivers)('what may not be seen is not there, on $name', (driver) => {
  let service: Service
  let caller: Person
  /** parameter → what is wrong with it → its value */
  const wrong: Record<string, Record<string, string>> = {}
  const own: Record<string, string> = {}
  beforeAll(async () => {
    service = await Service.start(driver)
    const acme = await service.workspace('Acme')
    caller = await service.person(acme, 'owner')
    const colleague = await service.person(acme, 'member')
    const globex = await service.workspace('Globex')
    const stranger = await service.person(globex, 'owner')
    const board = async (person: Person, visibility: string) => {
      const { body } = await service.send(person.write, 'POST', '/boards', { name: 'A board' })
      await service.send(person.admin, 'PUT', `/boards/${body.data.id}/visibility`, { visibility })
      return body.data.id as string
    }
    own['board_id'] = await board(caller, 'workspace')
    own['user_id'] = caller.id
    wrong['board_id'] = {
      nonexistent: 'brd_00000000000000000000',
      'of another workspace': await board(stranger, 'workspace'),
      'private in another workspace': await board(stranger, 'private'),
      private: await board(colleague, 'private'),
      malformed: 'nonsense',
      'of another kind': caller.id,
      'in other case': own['board_id'].toUpperCase(),
      'with a null byte': 'brd_%00',
      'with a broken escape': '%ZZ',
      'with an escaped slash': 'brd_%2f..%2f',
      'very long': 'b'.repeat(2000),
      'with a name of the prototype': '__proto__',
    }
    wrong['user_id'] = {
      nonexistent: 'usr_00000000000000000000',
      'of another workspace': stranger.id,
      malformed: 'nonsense',
      'of another kind': own['board_id'],
      'with a broken escape': '%ZZ',
    }
  })
  afterAll(() => service.stop())

  test.each(withId.map((row) => [row.id, row] as const))('%s: one answer for every reason', async (id, { method, path }) => {
    const answers = new Map<string, string[]>()
    for (const [, name] of path.matchAll(/\{(\w+)\}/g)) {
      for (const [reason, value] of Object.entries(wrong[name!]!)) {
        const at = path.replace(/\{(\w+)\}/g, (_all, other: string) => (other === name ? value : own[other]!))
        const reply = await service.send(caller.admin, method, at, bodies[id])
        const text = bytes(reply)
        answers.set(text, [...(answers.get(text) ?? []), `${name} ${reason}`])
      }
    }
    expect([...answers.values()]).toHaveLength(1)
    const [answer] = answers.keys()
    expect(answer).toMatch(/^404\n/)
    expect(JSON.parse(answer!.split('\n').at(-1)!)).toEqual({
      error: { code: 'not_found', message: expect.any(String), request_id: '<id>' },
    })
  })
})
