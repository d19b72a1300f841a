import { afterAll, describe, expect, test } from 'vitest'
import { OPERATOR_AGENT } from '../../src/http/member-requests.ts'
import { appendedEntry } from '../../src/store/appended.ts'
import { keys } from '../../src/store/keys.ts'
import { startWithAudit } from '../support/audit-trail.ts'
import { buildTeam } from '../support/board-team.ts'
import { memory } from '../support/memory.ts'
import type { Person } from '../support/service.ts'
import { signedIn, textOf, type Visitor } from '../support/visitor.ts'

const { service, recorder } = await startWithAudit(memory)
const { owner, visitor, api, base, boardId, columns } = await buildTeam(service)
const mira = await service.person(owner.workspaceId, 'member', 'Mira Patel')
const ben = await service.person(owner.workspaceId, 'member', 'Ben Carter')
const visitors = new Map<Person, Visitor>([[owner, visitor]])
for (const person of [mira, ben]) visitors.set(person, await signedIn(service, person))
afterAll(async () => {
  await recorder.flush()
  await service.stop()
})
const create = (title: string, person = owner, members = {}) =>
  api('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title, ...members }, person)
/** The lines of a history, as a person reads them, without their times. */
async function historyOf(id: string, person = owner, query = 'history') {
  await recorder.flush()
  const page = await visitors.get(person)!.request(`${base}/cards/${id}?${query}`)
  expect(page.status).toBe(200)
  const section = /<section id="card-history".*?<\/section>/s.exec(page.text)![0]
  const lines = [...section.matchAll(/<li>(.*?)<\/li>/gs)].map(([, line]) => textOf(line!.replace(/<time.*?<\/time>/s, '')))
  const older = /href="\?history=(\d+)#card-history"/.exec(section)?.[1]
  return { lines, older, text: textOf(section), html: section }
}

describe('the history of a card', () => {
  test('is a link until it is asked for', async () => {
    const card = await create('Quiet')
    const { text } = await visitor.request(`${base}/cards/${card.id}`)
    expect(text).toContain('href="?history#card-history"')
    expect(text).not.toContain('class="history"')
  })

  test('says what was done, newest first, and names the token only to those who may know it', async () => {
    const card = await create('Write notes', mira)
    const steps: [string, string, unknown?][] = [
      ['POST', `/cards/${card.id}/move`, { column_id: columns[1], to: 'first' }],
      ['PATCH', `/cards/${card.id}`, { title: 'Write all notes' }],
      ['POST', `/cards/${card.id}/comments`, { body: 'Begun.' }],
      ['POST', `/cards/${card.id}/subtasks`, { title: 'First' }],
      ['PUT', `/cards/${card.id}/assignees/${ben.id}`],
      ['PUT', `/cards/${card.id}/completion`, { completed: true }],
    ]
    for (const [method, path, body] of steps) {
      service.now += 1000
      await api(method, path, body, mira)
    }
    // What happens on other cards is not in it.
    const other = await create('Other', ben)
    await api('POST', `/cards/${other.id}/comments`, { body: 'Elsewhere.' }, ben)
    const done = [
      'completed the card',
      'assigned Ben Carter to the card',
      'added the subtask “First”',
      'commented',
      'renamed the card',
      'moved the card from “To do” to “Doing”',
      'created the card',
    ]
    for (const person of [mira, owner, ben])
      expect((await historyOf(card.id, person)).lines).toEqual(done.map((what) => `test of Mira Patel ${what}`))
  })

  test('says who did it in the web app, and what the operator did, alone or as a member', async () => {
    const card = await create('By hand')
    const browser = visitors.get(mira)!
    const { formToken: form_token } = browser
    const moved = await browser.post(`${base}/do/cards.move`, { card_id: card.id, column_id: columns[1]!, to: 'first', form_token })
    expect(moved.status).toBe(303)
    service.now += 60_000
    await service.adminDeps.sendAs!(mira.workspaceId, mira.id)('POST', `/cards/${card.id}/move`, { column_id: columns[0], to: 'first' })
    await service.write(owner.workspaceId, async (tx) => {
      await tx.read([keys.board(boardId)])
      tx.put(keys.card(card.id), { ...(await tx.get(keys.card(card.id)))!, title: 'By the operator' })
    })
    expect((await historyOf(card.id)).lines.slice(0, 3)).toEqual([
      'The operator renamed the card',
      'The operator as Mira Patel moved the card from “Doing” to “To do”',
      'Mira Patel moved the card from “To do” to “Doing”',
    ])
  })

  test('needs no audit trail, and an entry of somebody else explains nothing', async () => {
    const card = await create('Plain')
    const browser = visitors.get(mira)!
    const { formToken: form_token } = browser
    service.now += 60_000
    const { sinks } = service.app.services
    Object.assign(service.app.services, { sinks: [] })
    await browser.post(`${base}/do/cards.move`, { card_id: card.id, column_id: columns[1]!, to: 'first', form_token })
    Object.assign(service.app.services, { sinks })
    const moved = 'Mira Patel moved the card from “To do” to “Doing”'
    expect((await historyOf(card.id)).lines[0]).toBe(moved)
    const feed = await service.write(owner.workspaceId, async (tx) =>
      tx.read(Array.from({ length: 100 }, (_one, i) => keys.change(boardId, appendedEntry(i + 1)))),
    )
    const request = feed.findLast((change) => change?.id === card.id)!.request_id!
    const absent = { code: null, address: null, token_id: null, token_name: null }
    const people = { user_id: owner.id, subject_id: mira.id, agent: OPERATOR_AGENT }
    const done = { at: new Date(service.now).toISOString(), operation: 'cards.archive', ids: [card.id], rows: [], outcome: 'done' } as const
    recorder.add(owner.workspaceId, { ...done, ...absent, ...people, status: 200, request_id: request })
    expect((await historyOf(card.id)).lines[0]).toBe(moved)
  })

  describe('tells of what changed by its name:', () => {
    const make = async (path: string, body: object) => (await api('POST', path, body)).id as string
    test.each<[what: string, change: (card: string) => Promise<unknown>, line: string]>([
      ['a due date', (id) => api('PATCH', `/cards/${id}`, { due_at: '2026-12-01T00:00:00Z' }), 'set the due date of the card'],
      ['a description', (id) => api('PATCH', `/cards/${id}`, { description: 'x' }), 'edited the description of the card'],
      [
        'several members at once',
        (id) => api('PATCH', `/cards/${id}`, { title: 'Other', description: 'x' }),
        'renamed the card and edited the description of the card',
      ],
      ['its place', (id) => api('POST', `/cards/${id}/move`, { to: 'first' }), 'changed the place of the card in its column'],
      ['its archive', (id) => api('POST', `/cards/${id}/archive`), 'archived the card'],
      [
        'labels',
        async (id) => api('PUT', `/cards/${id}/labels/${await make(`/boards/${boardId}/labels`, { name: 'Bug', color: '#aa0000' })}`),
        'added the label “Bug” to the card',
      ],
      [
        'a label that was deleted',
        async (id) => {
          const label = await make(`/boards/${boardId}/labels`, { name: 'Gone', color: '#aa0000' })
          await api('PUT', `/cards/${id}/labels/${label}`)
          await api('DELETE', `/labels/${label}`)
        },
        'removed a deleted label from the card',
      ],
      [
        'a blocker',
        async (id) => api('PUT', `/cards/${id}/blockers/${(await create('In the way')).id}`),
        'added the blocker “In the way” to the card',
      ],
      [
        'a blocker that was deleted',
        async (id) => {
          const blocker = (await create('Secret')).id
          await api('PUT', `/cards/${id}/blockers/${blocker}`)
          await api('DELETE', `/cards/${blocker}`)
        },
        'removed a blocker from the card',
      ],
      [
        'a subtask that was deleted',
        async (id) => api('DELETE', `/subtasks/${await make(`/cards/${id}/subtasks`, { title: 'Brief' })}`),
        'deleted the subtask “Brief”',
      ],
      [
        'a subtask that is completed',
        async (id) => api('PATCH', `/subtasks/${await make(`/cards/${id}/subtasks`, { title: 'Step' })}`, { completed: true }),
        'completed the subtask “Step”',
      ],
      [
        'a comment that was deleted',
        async (id) => api('DELETE', `/comments/${await make(`/cards/${id}/comments`, { body: 'Never mind.' })}`),
        'deleted a comment',
      ],
    ])('%s', async (_what, change, line) => {
      const card = await create('Told')
      if (_what === 'its place') await create('Before it').then(({ id }) => api('POST', `/cards/${id}/move`, { to: 'first' }))
      service.now += 1000
      await change(card.id)
      const { lines, html } = await historyOf(card.id)
      expect(lines[0]).toBe(`test of Olivia Stone ${line}`)
      expect(textOf(html)).not.toMatch(/[a-z]{3}_[0-9a-z]{20}/)
    })

    test('an id is in the title of the name, and a card is a link', async () => {
      const [card, blocker] = [await create('Told'), await create('In the way <b>')]
      await api('PUT', `/cards/${card.id}/blockers/${blocker.id}`)
      await api('POST', `/cards/${card.id}/move`, { column_id: columns[1], to: 'first' })
      const { html } = await historyOf(card.id)
      expect(html).toContain(`<a dir="auto" href="${base}/cards/${blocker.id}" title="${blocker.id}">“In the way &lt;b>”</a>`)
      expect(html).toContain(`<span dir="auto" title="${columns[0]}">“To do”</span>`)
    })

    test('where a card was moved to, as long as later changes say it', async () => {
      const card = await create('Travels')
      for (const column of [1, 0, 1]) await api('POST', `/cards/${card.id}/move`, { column_id: columns[column], to: 'first' })
      const there = 'test of Olivia Stone moved the card from “To do” to “Doing”'
      const back = 'test of Olivia Stone moved the card from “Doing” to “To do”'
      expect((await historyOf(card.id)).lines).toEqual([there, back, there, 'test of Olivia Stone created the card'])
      // A part that begins with older changes does not know where the newest of them led.
      const feed = (await api('GET', `/boards/${boardId}/changes?order=desc&limit=2`)) as { seq: number }[]
      const before = `history=${appendedEntry(feed[0]!.seq)}`
      expect((await historyOf(card.id, owner, before)).lines.slice(0, 2)).toEqual([
        'test of Olivia Stone moved the card from “Doing”',
        there,
      ])
    })

    test('not, where a change of an earlier version does not say it', async () => {
      const card = await create('Old')
      for (const column of [1, 0]) await api('POST', `/cards/${card.id}/move`, { column_id: columns[column], to: 'first' })
      const [{ seq }] = (await api('GET', `/boards/${boardId}/changes?order=desc&limit=1`)) as [{ seq: number }]
      await service.write(owner.workspaceId, async (tx) => {
        const key = keys.change(boardId, appendedEntry(seq))
        const { changed: _changed, from: _from, operation: _operation, ...old } = (await tx.get(key))!
        tx.put(key, old)
      })
      expect((await historyOf(card.id)).lines.slice(0, 2)).toEqual([
        'test of Olivia Stone changed the card',
        'test of Olivia Stone moved the card from “To do”',
      ])
    })
  })

  test('has 50 requests, and links to older ones; it examines a bounded part of the feed, and says so', async () => {
    const card = await create('Long')
    for (let i = 0; i < 60; i++) await api('POST', `/cards/${card.id}/comments`, { body: `${i}` })
    const first = await historyOf(card.id)
    expect({ lines: first.lines.length, text: first.text }).toEqual({ lines: 50, text: expect.not.stringContaining('were not examined') })
    const second = await historyOf(card.id, owner, `history=${first.older}`)
    expect({ lines: second.lines.length, last: second.lines.at(-1), older: second.older }).toStrictEqual({
      lines: 11,
      last: 'test of Olivia Stone created the card',
      older: undefined,
    })
    expect(second.text).not.toContain('not kept')
    // 1,100 changes of another card, of one request each.
    const label = { column_id: columns[0], title: 'Busy', subtasks: Array.from({ length: 200 }, (_one, i) => `Subtask ${i}`) }
    for (let i = 0; i < 6; i++) await api('POST', `/boards/${boardId}/cards`, label)
    const third = await historyOf(card.id)
    expect({ lines: third.lines, text: third.text }).toEqual({ lines: [], text: expect.stringContaining('1,000 changes of the board') })
    expect((await historyOf(card.id, owner, `history=${third.older}`)).lines).toHaveLength(50)
    for (const wrong of ['history=x', 'history=-1', 'history=99999999999999999999', 'history=%00'])
      expect((await historyOf(card.id, owner, wrong)).lines).toEqual([])
  })

  test('says that older changes are not kept', async () => {
    const board = (await api('POST', '/boards', { name: 'Aged' })).id
    const column = await api('POST', `/boards/${board}/columns`, { name: 'X' })
    const card = await api('POST', `/boards/${board}/cards`, { column_id: column.id, title: 'Old' })
    await api('POST', `/cards/${card.id}/comments`, { body: 'x' })
    expect((await historyOf(card.id)).text).not.toContain('not kept')
    const forget = (kind: string) =>
      service.write(owner.workspaceId, async (tx) => {
        const found = (await service.recordKeys(owner.workspaceId)).filter((key) => key.startsWith(`change:${board}:`))
        for (const key of found) if (((await tx.get(key)) as any).kind === kind) tx.remove(key)
      })
    await forget('card')
    const { lines, text } = await historyOf(card.id)
    expect({ lines, text }).toEqual({
      lines: ['test of Olivia Stone commented'],
      text: expect.stringContaining('Changes before these are not kept any more.'),
    })
    await forget('comment')
    expect((await historyOf(card.id)).text).toContain('No changes of this card are kept any more.')
  })
})
