import { describe, expect, test } from 'vitest'
import type { Key } from '../../src/store/keys.ts'
import { recordUses, storeCopies, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { Service } from '../support/service.ts'

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

describe.each(drivers)('a page of a list that is assembled from several reads, on $name', async (driver) => {
  const service = await Service.forSuite(driver)
  const workspaceId = await service.workspace()
  const ann = await service.person(workspaceId, 'member', 'Ann')
  const bob = await service.person(workspaceId, 'member', 'Bob')
  await recordUses(service, ann)
  const board = await TestBoard.create(service, ann)
  await board.add(bob)

  /** Renames an item, as at the same moment of the clock: no entry of an index changes. */
  const renaming = (key: string, member: string) => (name: string) =>
    service.write(ann.workspaceId, async (tx) => tx.put(key as Key<object>, { ...(await tx.get(key as Key<object>)), [member]: name }))

  /** The first and the last item of a list, which are renamed. */
  const ends = (kind: string, [first, last]: readonly string[], member: string) =>
    [renaming(`${kind}:${first}`, member), renaming(`${kind}:${last}`, member)] as const

  /** Creates a column with cards. A search finds only the first and the last one. */
  async function search(query: string, accesses: number): Promise<List> {
    const other = await TestBoard.create(service, ann)
    const first = await other.card(await other.column(), 'old', { description: other.id })
    const copies = await storeCopies(other, `card:${first}`, 120, (i) => ({ description: i === 119 ? other.id : '' }))
    const path = query === '' ? `/boards/${other.id}/cards?q=${other.id}` : `/cards?q=${other.id}&${query}`
    return { path, rename: ends('card', [first, copies.at(-1)!], 'title'), member: 'title', accesses }
  }

  /** Creates more columns than are read at once, with a card in the first and in the last one. */
  async function cardsOfColumns(): Promise<List> {
    const other = await TestBoard.create(service, ann)
    const columns = [await other.column()]
    columns.push(...(await storeCopies(other, `column:${columns[0]}`, 9)))
    const cards = [await other.card(columns[0]!), await other.card(columns[9]!)]
    return { path: `/boards/${other.id}/cards`, rename: ends('card', cards, 'title'), member: 'title', accesses: 3 }
  }

  /** Creates two boards that are older than all others. */
  async function boards(): Promise<List> {
    const old = { created_at: '2026-11-01T00:00:00.000Z', creator_id: bob.id }
    const copies = await storeCopies(board, `board:${board.id}`, 2, () => old)
    return { path: '/boards?limit=2', rename: ends('board', copies, 'name'), member: 'name', accesses: 3 }
  }

  async function boardMembers(): Promise<List> {
    const rename = ends('membership', [ann.id, bob.id], 'display_name')
    return { path: `/boards/${board.id}/members`, rename, member: 'display_name', accesses: 3 }
  }

  test.each<[name: string, create: () => Promise<List>]>([
    ['cards of many columns', cardsOfColumns],
    ['cards that a search finds', () => search('', 5)],
    ['cards of all boards, by their creation', () => search('sort=created_at', 6)],
    ['cards of all boards, by position', () => search('sort=position', 6)],
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
      expect({ status: reply.status, data: reply.body.data.length }).toEqual({ status: 200, data: 2 })
      pages.push(reply.body.data.map((item: Record<string, string>) => item[member]!))
    }
    // The changes preceded an access of each page, except for the last page, which needs fewer accesses.
    expect(pages).toEqual([...pages.slice(1).map(() => ['new', 'new']), ['old', 'old']])
    // On Redis, the process remembers what comes before a list.
    expect(pages.length - 1).toBeGreaterThanOrEqual(driver.name === 'redis' ? expected - 1 : expected)
  })
})
