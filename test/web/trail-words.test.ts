import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { tellEntry, wordsOf } from '../../src/web/activity/words.ts'
import { startWithAudit } from '../support/audit-trail.ts'
import { TestBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'
import type { Person } from '../support/service.ts'
import { signedIn, textOf, type Visitor } from '../support/visitor.ts'

test.each(operations.map(({ id }) => id))('%s has words', (id) => {
  expect(wordsOf(id)).toBeDefined()
  // As the page of the web app that is about it.
  expect(wordsOf(`web.${id}`)).toBe(wordsOf(id))
})

describe('an entry of the audit trail', () => {
  const CARD = 'crd_00000000000000000000'
  const USER = 'usr_00000000000000000000'
  test.each([
    ['cards.move', 'done', [CARD], 'moved “Launch”'],
    ['cards.move', 'denied', [CARD], 'tried to move “Launch”'],
    ['cards.move', 'unknown', [CARD], 'may have moved “Launch”'],
    ['cards.move', 'done', ['crd_11111111111111111111'], 'moved a card'],
    ['cards.assign', 'done', [CARD, USER], 'assigned a person to “Launch”'],
    ['cards.set_cover', 'done', [], 'set the cover of a card'],
    ['boards.batch', 'done', [], 'made several changes on a board'],
    ['attachments.upload', 'done', [CARD], 'attached a file to “Launch”'],
    ['web.sign_in', 'denied', [], 'tried to sign in'],
  ] as const)('%s that is %s, about %j, is told as words', (operation, outcome, ids, words) => {
    const told = tellEntry({ operation, outcome, ids }, (id) => (id === CARD ? { id, name: '“Launch”' } : undefined))
    expect(told!.map((part) => (typeof part === 'string' ? part : part.name)).join('')).toBe(words)
  })

  test.each(['web.something', 'constructor', 'web.constructor', ''])('%j has no words', (operation) => {
    expect(tellEntry({ operation, outcome: 'done', ids: [] }, () => undefined)).toBeUndefined()
  })
})

describe('a page of the audit trail', async () => {
  const { service, recorder } = await startWithAudit(memory)
  let ann: Person
  let owner: Person
  let board: TestBoard
  let cardId: string
  beforeAll(async () => {
    const workspaceId = await service.workspace()
    owner = await service.person(workspaceId, 'owner', 'Cyd')
    ann = await service.person(workspaceId, 'member', 'Ann')
    board = await TestBoard.create(service, ann)
    const [todo, done] = [await board.column('To do'), await board.column('Done')]
    cardId = await board.card(todo, 'Launch <b>')
    await board.put(`/cards/${cardId}/assignees/${owner.id}`)
    await board.post(`/cards/${cardId}/move`, { column_id: done })
    await recorder.flush()
  })
  afterAll(() => service.stop())

  /** What the column “What” says, without the IDs, and its HTML. */
  const rows = async (visitor: Visitor, path: string) => {
    const { text } = await visitor.request(path)
    return [...text.matchAll(/<tr class="[^>]*>(.*?)<\/tr>/gs)].map(([, row]) => {
      const details = /<details.*?<\/details>/s.exec(row!)?.[0] ?? ''
      return { html: row!, words: textOf(row!.replace(details, '')), ids: textOf(details) }
    })
  }

  test('tells of operations by the names of what they are about, with links; the ids are beside them', async () => {
    const [move, assign] = await rows(await signedIn(service, ann), '/settings/activity')
    expect(move!.words).toContain('moved “Launch <b>”')
    expect(move!.html).toContain(`<a dir="auto" href="/app/${ann.workspaceId}/cards/${cardId}" title="${cardId}">`)
    expect(move!.ids).toBe(`IDs cards.move ${cardId}`)
    expect(assign!.words).toContain('assigned Cyd to “Launch <b>”')
  })

  test('names nothing that its reader may not read now, to an owner either', async () => {
    const visitor = await signedIn(service, owner)
    const audit = `/settings/workspace/${owner.workspaceId}/audit`
    expect((await rows(visitor, audit)).some(({ words }) => words.includes('moved “Launch <b>”'))).toBe(true)
    await board.makePrivate()
    await recorder.flush()
    const seen = await rows(visitor, audit)
    expect(seen.filter(({ html }) => html.includes('Launch'))).toEqual([])
    expect(seen.find(({ ids }) => ids.includes('cards.move'))!.words).toContain('moved a card')
    expect(seen.find(({ ids }) => ids.includes('boards.set_visibility'))!.words).toContain('changed who has access to a board')
    // The reads of the page itself leave nothing in the trail.
    await recorder.flush()
    expect((await rows(visitor, audit)).filter(({ words }) => words.includes('tried to'))).toEqual([])
  })
})
