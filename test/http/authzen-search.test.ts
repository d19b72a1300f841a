import { describe, expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { askPoint, on, pointBytes, to, user } from '../support/decision-point.ts'
import { handWrittenOperations } from '../support/hand-written-decisions.ts'
import { buildWorld, createScenario } from '../support/scenario.ts'
import { Service, type Person, type Reply } from '../support/service.ts'

const service = await Service.forSuite()
const workspaceId = await service.workspace()
/** In the order in which they joined. */
const members: Person[] = []
for (const [name, role] of [
  ['Olivia', 'owner'],
  ['Adrian', 'admin'],
  ['Mira', 'member'],
  ['Ben', 'member'],
] as const) {
  members.push(await service.person(workspaceId, role, name))
  service.now += 1000
}
const [olivia, adrian, mira, ben] = members as [Person, Person, Person, Person]
const board = await TestBoard.create(service, mira)
service.now += 1000
const hidden = await TestBoard.create(service, ben, 'private')

const ask = (token: string | null, path: string, body: unknown): Promise<Reply> => askPoint(service, token, path, body)

describe('what the caller has no access to', async () => {
  const world = await buildWorld(service)
  const asker = await service.person(world.workspaceId, 'admin', 'Asker')
  const facts = { 'caller.role': 'member', 'caller.membership': 'active', 'board.visibility': 'private', 'board.caller': 'member' }
  const scenario = (await createScenario(world, { ...facts, 'file.owner': 'caller', 'file.visibility': 'private' }))!
  const person = scenario.caller
  const absent = Object.fromEntries(Object.entries(scenario.params).map(([name, id]) => [name, `${id.slice(0, 4)}${'0'.repeat(20)}`]))
  const inPath = handWrittenOperations.flatMap(({ id, path }) => {
    const [, parameter] = /\{(\w+)\}/.exec(path) ?? []
    return parameter === undefined ? [] : [[id, parameter, path] as const]
  })

  test.each(inPath)('is answered like what is absent: %s', async (name, parameter, path) => {
    const others = [...path.matchAll(/\{(\w+)\}/g)].slice(1).map(([, other]) => [other!, scenario.params[other!]])
    // What it names in its body belongs to the hidden board as well.
    const properties = {
      ...Object.fromEntries(others),
      column_id: scenario.params['column_id'],
      file_id: scenario.params['file_id'],
      attachment_id: scenario.params['attachment_id'],
      label_id: scenario.params['label_id'],
      user_id: person.id,
    }
    const bodies = (ids: Readonly<Record<string, string>>) => {
      const resource = { type: parameter.replace(/_id$/, ''), id: ids[parameter]!, properties }
      return [person.id, asker.id].flatMap((id): readonly [string, object][] => [
        ['/evaluation', { subject: user(id), ...to(name), resource }],
        ['/evaluations', { subject: user(id), evaluations: [{ ...to(name), resource }] }],
        ['/search/action', { subject: user(id), resource }],
        ['/search/subject', { subject: { type: 'user' }, ...to(name), resource }],
        [
          '/search/resource',
          { subject: user(id), ...to('cards.read'), resource: { type: 'card', properties: { board_id: ids['board_id'] } } },
        ],
      ])
    }
    const answers = async (ids: Readonly<Record<string, string>>) => {
      const found: unknown[] = []
      for (const [at, body] of bodies(ids)) {
        const before = service.store.trips
        const reply = await ask(asker.read, at, body)
        found.push([at, pointBytes(reply), service.store.trips - before])
      }
      return found
    }
    // The first use of a token is recorded.
    await answers(absent)
    const hiddenAnswers = await answers(scenario.params)
    expect(hiddenAnswers).toEqual(await answers(absent))
    // The person themself may do it, or learns why not, so the answer was not the same by chance.
    const own = await ask(person.admin, '/search/action', {
      subject: user('me'),
      resource: (bodies(scenario.params)[0]![1] as any).resource,
    })
    expect(own.body.results.length).toBeGreaterThan(0)
  })

  test('is not among the boards that a search finds for its member', async () => {
    const search = { subject: user(ben.id), ...to('boards.read'), resource: { type: 'board' } }
    const { body } = await ask(olivia.read, '/search/resource', search)
    expect(body.results.map(({ id }: any) => id)).toEqual([board.id])
    const own = await ask(ben.read, '/search/resource', { ...search, subject: user('me') })
    expect(own.body.results.map(({ id }: any) => id)).toEqual([board.id, hidden.id])
  })
})

describe('a search', () => {
  const decide = async (asker: Person, questions: readonly object[]): Promise<boolean[]> =>
    (await ask(asker.read, '/evaluations', { evaluations: questions })).body.evaluations.map(({ decision }: any) => decision)

  test('for members finds those that an evaluation allows, whatever the size of a page', async () => {
    for (const [i, name] of ['boards.read', 'boards.delete', 'boards.set_visibility', 'boards.update'].entries()) {
      for (const properties of [undefined, { scope: 'kanban:write' }]) {
        const subjects = members.map(({ id }) => user(id, properties))
        const allowed = await decide(
          olivia,
          subjects.map((subject) => ({ subject, ...to(name), ...on(board.id) })),
        )
        const found: string[] = []
        for (let [token, pages] = ['', 0]; pages === 0 || token !== ''; pages++) {
          expect(pages).toBeLessThan(6)
          const page = { limit: [1, 2, 100, 0][i], ...(token && { token }) }
          const { body } = await ask(olivia.read, '/search/subject', {
            subject: { type: 'user', properties },
            ...to(name),
            ...on(board.id),
            page,
          })
          found.push(...body.results.map(({ id }: any) => id))
          token = body.page.next_token
        }
        expect([name, found]).toEqual([name, members.filter((_one, m) => allowed[m]).map(({ id }) => id)])
      }
    }
  })

  test('for cards finds those that an evaluation allows, archived ones too', async () => {
    const own = await TestBoard.create(service, mira)
    const column = await own.column()
    const cards = [await own.card(column), await own.card(column), await own.card(column)]
    await own.post(`/cards/${cards[1]!}/archive`, {})
    for (const [name, count] of [
      ['cards.update', 3],
      ['cards.delete', 3],
      ['claims.take', 3],
      ['fly', 0],
    ] as const) {
      const search = { subject: user(ben.id), ...to(name), resource: { type: 'card', properties: { board_id: own.id } } }
      const { body } = await ask(adrian.read, '/search/resource', search)
      expect([name, body.results.map(({ id }: any) => id)]).toEqual([name, count === 0 ? [] : cards.toSorted()])
    }
    const scoped = {
      subject: user(ben.id, { scope: 'kanban:write' }),
      ...to('cards.delete'),
      resource: { type: 'card', properties: { board_id: own.id } },
    }
    expect((await ask(adrian.read, '/search/resource', scoped)).body.results).toEqual([])
  })

  test('for actions finds for another person what an evaluation allows', async () => {
    for (const subject of [user(ben.id), user(mira.id, { scope: 'kanban:write' }), user('me')]) {
      const { body } = await ask(olivia.read, '/search/action', { subject, ...on(board.id), page: { limit: 1000 } })
      const onBoard = handWrittenOperations.filter(({ path }) => path.startsWith('/boards/{'))
      const properties = { user_id: adrian.id, column_id: await board.column() }
      const allowed = await decide(
        olivia,
        onBoard.map(({ id }) => ({ subject, ...to(id), ...on(board.id, properties) })),
      )
      const expected = onBoard.filter((_one, i) => allowed[i]).map(({ id }) => id)
      expect(body.results.map(({ name }: any) => name).toSorted()).toEqual(expected.toSorted())
    }
  })

  test('is recorded with the resource, or the person, that all its questions are about', async () => {
    const recorded = async (path: string, question: object) => {
      await ask(olivia.read, path, question)
      const found = service.records.at(-1)!.evaluations!.filter(({ operation }) => operation === 'boards.update')
      return [...new Set(found.map(({ resource = null, subject = null }) => `${resource} ${subject}`))]
    }
    const ofSubjects = await recorded('/search/subject', { subject: { type: 'user' }, ...to('boards.update'), ...on(board.id) })
    const ofBoards = await recorded('/search/resource', { subject: user(ben.id), ...to('boards.update'), resource: { type: 'board' } })
    expect({ ofSubjects, ofBoards }).toEqual({ ofSubjects: [`${board.id} null`], ofBoards: [`null ${ben.id}`] })
  })

  test('takes null for what it leaves open', async () => {
    const card = await board.card(await board.column())
    const names = async (properties: object | null | undefined) => {
      const resource = { type: 'card', id: card, properties }
      return (await ask(olivia.read, '/search/subject', { subject: { type: 'user' }, ...to('cards.assign'), resource })).body.results
    }
    const open = await names(undefined)
    expect(open).not.toEqual([])
    expect([await names(null), await names({ user_id: null })]).toEqual([open, open])
  })

  test('refuses a token of another question', async () => {
    const search = { subject: { type: 'user' }, ...to('boards.read'), ...on(board.id), page: { limit: 1 } }
    const { next_token: token } = (await ask(olivia.read, '/search/subject', search)).body.page
    const next = async (changes: object) => (await ask(olivia.read, '/search/subject', { ...search, page: { token }, ...changes })).status
    const same = [{}, { context: { time: 'later' } }, { subject: { type: 'user', properties: null } }]
    const others = [to('boards.update'), on(hidden.id), to('boards.read', { name: null })]
    expect(await Promise.all([...same, ...others].map(next))).toEqual([200, 200, 200, 400, 400, 400])
  })
})
