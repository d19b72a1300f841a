import { describe, expect, test } from 'vitest'
import { endMembership } from '../../src/admin/memberships.ts'
import { createClient } from '../../src/client/client.ts'
import { drivers } from '../support/drivers.ts'
import { inWebApp } from '../support/in-web-app.ts'
import { TestBoard } from '../support/board.ts'
import { Service, type Person } from '../support/service.ts'
import { Reminders } from '../../src/reminders/reminders.ts'
import { DAY } from '../../src/model/time.ts'

describe.each(drivers)('notices on $name', async (driver) => {
  const service = await Service.forSuite(driver)
  const workspaceId = await service.workspace()
  const [ann, bob, cleo] = [
    await service.person(workspaceId, 'owner', 'Ann'),
    await service.person(workspaceId, 'member', 'Bob'),
    await service.person(workspaceId, 'member', 'Cleo'),
  ]
  const people = { ann, bob, cleo }

  /** A board of Ann with a column, where nobody has notices of. */
  const world = async (visibility: 'workspace' | 'private' = 'workspace') => {
    const board = await TestBoard.create(service, ann, visibility)
    const column = await board.column('Column', { max_attempts: 1 })
    return { board, column, card: (members: object = {}) => board.card(column, 'Paint', members) }
  }
  const send = async (person: Person, method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
    const reply = await service.send(person.admin, method, path, body, headers)
    if (reply.status >= 300) throw new Error(`${reply.status} ${reply.text}`)
    return reply.body.data
  }
  const list = async (person: Person, query = '') => (await service.send(person.read, 'GET', `/notices?limit=100${query}`)).body
  /** The notices about a board that each person has, as they are shown: what they are, and their text. */
  const told = async (boardId: string) => {
    const found: Record<string, string[]> = {}
    for (const [name, person] of Object.entries(people)) {
      const mine = (await list(person)).data.filter(({ board_id }: { board_id: string }) => board_id === boardId)
      if (mine.length > 0) found[name] = mine.map(({ kind, text }: { kind: string; text: string }) => `${kind}: ${text}`)
    }
    return found
  }
  /** An agent of a person takes a card. */
  const claim = async (person: Person, card: string) => ({
    'if-claim': String((await send(person, 'PUT', `/cards/${card}/claim`, {})).epoch),
  })

  test('each kind tells whom it concerns, once', async () => {
    const { board, card } = await world()
    const id = await card({ assignee_ids: [bob.id], description: `@${cleo.id}, @${bob.id} and @usr_00000000000000000000` })
    const comment = await send(cleo, 'POST', `/cards/${id}/comments`, { body: `Blue?\n@${ann.id}` })
    const headers = await claim(cleo, id)
    await send(cleo, 'POST', `/cards/${id}/claim/question`, { question: 'Which blue?' }, headers)
    await inWebApp(service, ann, 'POST', `/cards/${id}/answer`, { body: 'The dark one.' })
    await send(cleo, 'POST', `/cards/${id}/claim/failure`, { reason: 'No paint.' }, await claim(cleo, id))
    expect(comment.body).toContain(ann.id)
    expect(await told(board.id)).toEqual({
      ann: ['mentioned: test of Cleo mentioned you on "Paint": Blue? @Ann'],
      bob: [
        'assigned: test of Ann assigned you to "Paint".',
        'commented: test of Cleo commented on "Paint": Blue? @Ann',
        'question: test of Cleo asks on "Paint": Which blue?',
        'commented: Ann commented on "Paint": The dark one.',
        'card_stuck: "Paint" is stuck: its last attempt has failed.',
      ],
      cleo: ['mentioned: test of Ann mentioned you on "Paint".', 'answered: Ann answered your question on "Paint": The dark one.'],
    })
  })

  test('nobody is told of what they do themselves in the web app, and each person of what their agent does', async () => {
    const { board, card } = await world()
    const id = await card({ assignee_ids: [bob.id] })
    await inWebApp(service, bob, 'POST', `/cards/${id}/comments`, { body: `@${bob.id}` })
    await send(bob, 'POST', `/cards/${id}/comments`, { body: 'I am his agent.' })
    expect((await told(board.id))['bob']).toEqual([
      'assigned: test of Ann assigned you to "Paint".',
      'commented: test of Bob commented on "Paint": I am his agent.',
    ])
  })

  test('a question reaches the assignees, or the creator of the card, or the creator of the board', async () => {
    const { board, column } = await world()
    await board.add(cleo)
    await board.add(bob)
    const id = (await send(cleo, 'POST', `/boards/${board.id}/cards`, { column_id: column, title: 'Paint' })).id
    const ask = async () => send(bob, 'POST', `/cards/${id}/claim/question`, { question: 'Why?' }, await claim(bob, id))
    await ask()
    await inWebApp(service, cleo, 'POST', `/cards/${id}/answer`, { body: 'So.' })
    await board.makePrivate()
    await board.delete(`/boards/${board.id}/members/${cleo.id}`)
    await ask()
    const kinds = (all: readonly string[] | undefined) => (all ?? []).filter((text) => text.startsWith('question'))
    const found = await told(board.id)
    expect({ ann: kinds(found['ann']).length, bob: kinds(found['bob']).length, cleo: kinds(found['cleo']).length }).toEqual({
      ann: 1,
      bob: 0,
      // What she may not read any more is not there.
      cleo: 0,
    })
    await board.add(cleo)
    expect(kinds((await told(board.id))['cleo']).length).toBe(1)
  })

  test('a question reaches somebody while the assignments of a former member are being removed', async () => {
    const { board, card } = await world()
    const dan = await service.person(workspaceId, 'member', 'Dan')
    const ids: string[] = []
    for (let i = 0; i < 3; i++) ids.push(await card({ assignee_ids: [dan.id] }))
    await endMembership({ ...service.adminDeps, batch: 1 }, workspaceId, dan.id)
    for (const id of ids) await send(bob, 'POST', `/cards/${id}/claim/question`, { question: 'Why?' }, await claim(bob, id))
    expect((await told(board.id))['ann']).toEqual(ids.map(() => 'question: test of Bob asks on "Paint": Why?'))
  })

  test('nobody is told of a card that they may not read then, even if they may read it later', async () => {
    const { board, card } = await world('private')
    const id = await card({ description: `@${bob.id} @${cleo.id}` })
    await board.add(bob)
    await send(ann, 'POST', `/cards/${id}/comments`, { body: `@${bob.id} @${cleo.id}` })
    await board.add(cleo)
    expect(Object.keys(await told(board.id))).toEqual(['bob'])
    expect((await told(board.id))['bob']!.length).toBe(1)
  })

  test('an edit tells only those whom it mentions anew', async () => {
    const { board, card } = await world()
    const id = await card({ description: `@${bob.id}` })
    await board.patch(`/cards/${id}`, { description: `Dear @${bob.id} and @${cleo.id}` })
    await board.patch(`/cards/${id}`, { title: 'Painted' })
    const comment = (await send(ann, 'POST', `/cards/${id}/comments`, { body: 'So' })).id
    await board.patch(`/comments/${comment}`, { body: `So, @${cleo.id}` })
    await board.patch(`/comments/${comment}`, { body: `So, @${cleo.id}!` })
    const count = Object.fromEntries(Object.entries(await told(board.id)).map(([name, all]) => [name, all.length]))
    expect(count).toEqual({ bob: 1, cleo: 2 })
  })

  test('what is in code or in a URL tells nobody', async () => {
    const { board, card } = await world()
    const at = `@${bob.id}`
    const id = await card({ description: `\`${at}\` https://a.example/${at}` })
    await send(ann, 'POST', `/cards/${id}/comments`, { body: `\`\`\`\n${at}\n\`\`\`\n@${cleo.id}` })
    expect(await told(board.id)).toEqual({ cleo: [`mentioned: test of Ann mentioned you on "Paint": \`\`\` ${at} \`\`\` @Cleo`] })
  })

  test('what is deleted is not there', async () => {
    const { board, card } = await world()
    const [first, second] = [await card({ assignee_ids: [bob.id] }), await card({ assignee_ids: [bob.id] })]
    const comment = (await send(ann, 'POST', `/cards/${second}/comments`, { body: `x` })).id
    expect((await told(board.id))['bob']!.length).toBe(3)
    await board.delete(`/comments/${comment}`)
    await board.delete(`/cards/${first}`)
    expect((await told(board.id))['bob']!.length).toBe(1)
    await board.delete(`/boards/${board.id}`)
    expect(await told(board.id)).toEqual({})
  })

  test('are followed by a cursor, wait for the next one, and are marked as read', async () => {
    const { card } = await world()
    const end = async (after: string | null): Promise<string> => {
      const { data, page } = await list(cleo, after === null ? '' : `&after=${after}`)
      return data.length === 0 ? page.next_cursor : end(page.next_cursor)
    }
    const after = await end(null)
    const waiting = list(cleo, `&after=${after}&wait=30`)
    await card({ assignee_ids: [cleo.id] })
    const found = await waiting
    expect(found.data.map(({ kind, read_at }: any) => [kind, read_at])).toEqual([['assigned', null]])
    expect((await list(cleo, `&after=${found.page.next_cursor}`)).data).toEqual([])
    const id = found.data[0].id
    const mark = (body: object) => service.send(cleo.write, 'POST', '/notices/read', body)
    expect((await mark({ ids: [id, 'ntc_00009999999999999999'] })).status).toBe(200)
    expect((await list(cleo, `&after=${after}`)).data[0].read_at).toBe(new Date(service.now).toISOString())
    expect((await list(cleo, `&after=${after}&unread=true`)).data).toEqual([])
    expect((await list(cleo, '&unread=true')).data.length).toBeGreaterThan(0)
    await mark({ before: new Date(service.now).toISOString() })
    expect((await list(cleo, '&unread=true')).data).toEqual([])
    const newest = await list(cleo, '&order=desc')
    expect(newest.data[0].id).toBe(id)
    expect((await mark({})).status).toBe(422)
    expect((await mark({ ids: [id], before: '2027-01-01T00:00:00Z' })).status).toBe(422)
    expect((await service.send(cleo.read, 'POST', '/notices/read', { ids: [id] })).status).toBe(403)
  })

  test('the client follows them', async () => {
    const { card } = await world()
    const first = await list(bob, '&order=desc')
    const lk = createClient({
      url: 'http://localhost',
      token: bob.read,
      fetch: (url, init) => service.app.fetch(new Request(url as string, init)),
    })
    const { cursor: none } = lk.notices.follow()
    const known = new Set(first.data.map(({ id }: { id: string }) => id))
    const made = await card({ assignee_ids: [bob.id] })
    const stream = lk.notices.follow({ wait: 0 })
    const found: string[] = []
    for await (const { id, card_id } of stream) {
      if (!known.has(id)) found.push(card_id!)
      if (card_id === made) break
    }
    expect({ none, found }).toEqual({ none: undefined, found: [made] })
    expect(() => lk.notices.follow({ board_id: 'x' } as object)).toThrow('notices.follow')
  })

  test('time tells of cards that are due, tokens that end and last attempts that run out, once', async () => {
    const { board, card } = await world()
    const at = (days: number) => new Date(service.now + days * DAY).toISOString()
    const [soon, later] = [await card({ assignee_ids: [bob.id], due_at: at(0.5) }), await card({ due_at: at(10) })]
    await service.token(workspaceId, cleo.id, ['kanban:read'], 15 * DAY)
    await claim(cleo, soon)
    await inWebApp(service, ann, 'PATCH', `/cards/${soon}`, { title: 'Soon' })
    await inWebApp(service, ann, 'PATCH', `/cards/${later}`, { title: 'Later' })
    // Two processes look at once, and again.
    const look = async () => {
      const others = [0, 1].map(() => new Reminders({ services: () => service.app.services, random: service.deps.random }))
      await Promise.all(others.map((one) => one.look()))
    }
    const mine = async (person: Person) =>
      (await list(person, '&order=desc')).data
        .filter((one: any) => ['due', 'card_stuck', 'token_ending'].includes(one.kind) && [board.id, null].includes(one.board_id))
        .map(({ text }: { text: string }) => text.replace(/ on 2026.*/, ''))
    await look()
    expect({ ann: await mine(ann), bob: await mine(bob), cleo: await mine(cleo) }).toEqual({ ann: [], bob: ['"Soon" is due'], cleo: [] })
    // It was passed already, so the commit tells.
    const between = await card({ due_at: at(0.25) })
    await inWebApp(service, bob, 'PATCH', `/cards/${between}`, { title: 'Between' })
    const before = service.now
    service.now += 2 * DAY
    await look()
    service.now = before + 12 * DAY + DAY / 2
    await look()
    service.now = before
    await look()
    service.now = before + 12 * DAY + DAY / 2
    await look()
    expect({ ann: await mine(ann), bob: await mine(bob) }).toEqual({
      ann: ['"Later" is due', '"Between" is due'],
      bob: ['"Soon" is stuck: its last attempt has failed.', '"Soon" is due'],
    })
    expect(await mine(cleo)).toEqual(['Your token "test" ends', 'Your token "test" ends'])
    service.now = before
  })

  test('last attempts on a deleted board stop nobody', async () => {
    const [gone, kept] = [await world(), await world()]
    for (let i = 0; i < 51; i++) await claim(cleo, await gone.card())
    await send(ann, 'DELETE', `/boards/${gone.board.id}`)
    await claim(cleo, await kept.card())
    service.now += 3600_000
    await new Reminders({ services: () => service.app.services, random: service.deps.random }).look()
    expect(await told(kept.board.id)).toEqual({ ann: ['card_stuck: "Paint" is stuck: its last attempt has failed.'] })
    service.now -= 3600_000
  })
})
