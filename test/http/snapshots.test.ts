import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keys, type Key } from '../../src/store/keys.ts'
import { recordUses, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { card as cardRecord } from '../support/records.ts'
import { Service, type Person } from '../support/service.ts'

/**
 * A page of a list that needs several reads, while two of its items are renamed one after the other: first an item at its
 * beginning, then one at its end. A page that has the old name of the first and the new name of the second shows a state
 * that never was.
 */
interface List {
  readonly path: string
  /** renames the first item, and the last one */
  readonly rename: readonly [first: (name: string) => Promise<void>, last: (name: string) => Promise<void>]
  /** the member of an item that is renamed */
  readonly member: string
  /** the number of accesses to the storage that the page needs at least */
  readonly accesses: number
}

const AT = '2026-11-01T00:00:00.000Z'
const times = { created_at: AT, updated_at: AT }
const numbered = (kind: string, i: number) => `${kind}_${String(i).padStart(20, '0')}`

describe.each(drivers)('a page of a list that is assembled from several reads, on $name', (driver) => {
  let service: Service
  let ann: Person
  let bob: Person
  let board: TestBoard
  beforeAll(async () => {
    service = await Service.start(driver)
    const workspaceId = await service.workspace()
    ann = await service.person(workspaceId, 'member', 'Ann')
    bob = await service.person(workspaceId, 'member', 'Bob')
    await recordUses(service, ann)
    board = await TestBoard.create(service, ann)
    await board.add(bob)
  })
  afterAll(() => service.stop())

  const create = (records: readonly (readonly [key: string, value: object])[]) =>
    service.write(ann.workspaceId, async (tx) => {
      await tx.read(records.map(([key]) => key as Key<object>))
      for (const [key, value] of records) tx.put(key as Key<object>, value)
    })
  /** Renames an item, as at the same moment of the clock: no entry of an index changes. */
  const renaming = (key: string, member: string) => (name: string) =>
    service.write(ann.workspaceId, async (tx) => tx.put(key as Key<object>, { ...(await tx.get(key as Key<object>)), [member]: name }))

  const card = (boardId: string, column_id: string, i: number, description = '') =>
    cardRecord({
      id: `crd_${boardId.slice(4, 14)}${String(i).padStart(10, '0')}`,
      board_id: boardId,
      column_id,
      title: 'old',
      description,
      position: `a${String(i).padStart(4, '0')}1`,
      creator_id: ann.id,
      ...times,
    })
  const titles = (cards: readonly { id: string }[]) =>
    [renaming(keys.card(cards[0]!.id), 'title'), renaming(keys.card(cards.at(-1)!.id), 'title')] as const

  /** Creates a column with cards. A search finds only the first and the last one. */
  async function search(query: string, accesses: number): Promise<List> {
    const other = await TestBoard.create(service, ann)
    const column = await other.column()
    const cards = Array.from({ length: 121 }, (_, i) => card(other.id, column, i, i % 120 === 0 ? 'found' : ''))
    await create(cards.map((one) => [keys.card(one.id), one]))
    return { path: `/boards/${other.id}/cards?q=found${query}`, rename: titles(cards), member: 'title', accesses }
  }

  /** The same among the cards of all boards: the text is on no other board. */
  async function searchEverywhere(query: string, accesses: number): Promise<List> {
    const { path, ...list } = await search('', accesses)
    const [, boardId] = /boards\/(\w+)/.exec(path)!
    await service.write(ann.workspaceId, async (tx) => {
      const id = (i: number) => `crd_${boardId!.slice(4, 14)}${String(i).padStart(10, '0')}`
      const found = await tx.read([keys.card(id(0)), keys.card(id(120))])
      for (const one of found) tx.put(keys.card(one!.id), { ...one!, description: boardId! })
    })
    return { ...list, path: `/cards?q=${boardId}&${query}` }
  }

  /** Creates more columns than are read at once, with a card in the first and in the last one. */
  async function cardsOfColumns(): Promise<List> {
    const other = await TestBoard.create(service, ann)
    const ids: string[] = []
    for (let i = 0; i < 10; i++) ids.push(await other.column())
    const cards = [card(other.id, ids[0]!, 0), card(other.id, ids[9]!, 1)]
    await create(cards.map((one) => [keys.card(one.id), one]))
    return { path: `/boards/${other.id}/cards`, rename: titles(cards), member: 'title', accesses: 3 }
  }

  /** Creates columns, of which only the first and the last one are active. */
  async function columns(): Promise<List> {
    const { id: boardId } = await TestBoard.create(service, ann)
    const id = (i: number) => numbered('col', i)
    await create(
      Array.from({ length: 12 }, (_, i) => {
        const archived_at = i === 0 || i === 11 ? null : AT
        return [
          keys.column(id(i)),
          {
            id: id(i),
            board_id: boardId,
            name: 'old',
            position: `a${String(i).padStart(4, '0')}1`,
            wip_limit: null,
            archived_at,
            ...times,
          },
        ]
      }),
    )
    const rename = [renaming(keys.column(id(0)), 'name'), renaming(keys.column(id(11)), 'name')] as const
    return { path: `/boards/${boardId}/columns?limit=2`, rename, member: 'name', accesses: 4 }
  }

  /** Creates two boards that are older than all others. */
  async function boards(): Promise<List> {
    const members = { name: 'old', description: '', cover_color: null, visibility: 'workspace', creator_id: bob.id, ...times }
    await create([0, 1].map((i) => [keys.board(numbered('brd', i)), { id: numbered('brd', i), ...members }]))
    const rename = [renaming(keys.board(numbered('brd', 0)), 'name'), renaming(keys.board(numbered('brd', 1)), 'name')] as const
    return { path: '/boards?limit=2', rename, member: 'name', accesses: 3 }
  }

  async function boardMembers(): Promise<List> {
    for (const { id } of [ann, bob]) await renaming(keys.membership(id), 'display_name')('old')
    const rename = [renaming(keys.membership(ann.id), 'display_name'), renaming(keys.membership(bob.id), 'display_name')] as const
    return { path: `/boards/${board.id}/members`, rename, member: 'display_name', accesses: 3 }
  }

  test.each<[name: string, create: () => Promise<List>]>([
    ['cards of many columns', cardsOfColumns],
    ['cards that a search finds', () => search('', 5)],
    ['cards of all boards, by their creation', () => searchEverywhere('sort=created_at', 6)],
    ['cards of all boards, by position', () => searchEverywhere('sort=position', 6)],
    ['columns', columns],
    ['boards', boards],
    ['members of a board', boardMembers],
  ])('a page is one snapshot, whichever of its reads a change precedes: %s', async (_name, createList) => {
    const { path, rename, member, accesses: expected } = await createList()
    const pages: string[][] = []
    for (let access = 1, changed = true; changed; access++) {
      for (const change of rename) await change('old')
      changed = false
      let accesses = 0
      service.store.beforeRead = async () => {
        if (changed || ++accesses < access) return
        changed = true
        for (const change of rename) await change('new')
      }
      const reply = await service.send(ann.read, 'GET', path)
      service.store.beforeRead = undefined
      expect([reply.status, reply.body.data.length]).toEqual([200, 2])
      pages.push(reply.body.data.map((item: Record<string, string>) => item[member]!))
    }
    // The changes preceded an access of each page, except for the last page, which needs fewer accesses.
    expect(pages).toEqual([...pages.slice(1).map(() => ['new', 'new']), ['old', 'old']])
    expect(pages.length - 1).toBeGreaterThanOrEqual(expected)
  })
})
