import { beforeEach, describe, expect, test } from 'vitest'
import { keys, type Key } from '../../src/store/keys.ts'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'

const ALL = 'columns,cards,labels,members,counts'

describe.each(drivers)('the snapshot of a board, on $name', (driver) => {
  const setup = setUpBoard(driver)
  beforeEach(async () => {
    const { board, columnId, bob } = setup
    const later = await board.column('Later')
    await board.card(later, 'On the later column')
    const archived = await board.column('Archived')
    await board.card(archived, 'Of an archived column')
    await board.post(`/columns/${archived}/archive`)
    await board.post(`/columns/${await board.column('First', { before: columnId })}/move`, { to: 'first' })
    await board.post(`/cards/${await board.card(columnId, 'Archived')}/archive`)
    await board.label('One')
    await board.label('Two')
    await board.add(bob)
  })
  const read = async (include: string) => (await setup.board.get(`/boards/${setup.board.id}?include=${include}`)).body.data

  test('has what the separate requests return', async () => {
    const { board } = setup
    const [columns, cards, labels, members] = await Promise.all(
      ['columns', 'cards', 'labels', 'members'].map((part) => board.all(`/boards/${board.id}/${part}`)),
    )
    const { data } = (await board.get(`/boards/${board.id}`)).body
    const counts = { columns: 4, cards: 4, labels: 2 }
    const cursors = { cards_cursor: null, changes_cursor: expect.any(String) }
    expect({ columns: columns!.length, cards: cards!.length, labels: labels!.length, members: members!.length }).toEqual({
      columns: 3,
      cards: 2,
      labels: 2,
      members: 2,
    })
    expect(await read(ALL)).toEqual({ ...data, columns, cards, labels, members, counts, ...cursors })
  })

  test.each([
    ['labels', ['labels']],
    ['members,columns', ['columns', 'members']],
    ['cards', ['cards', 'cards_cursor']],
    ['counts,cards', ['cards', 'cards_cursor', 'counts']],
  ])('with ?include=%s has these parts and no others', async (include, parts) => {
    const { board } = setup
    const reply = await board.get(`/boards/${board.id}?include=${include}`)
    const own = Object.keys((await board.get(`/boards/${board.id}`)).body.data)
    const added = Object.keys(reply.body.data).filter((name) => !own.includes(name))
    expect(added.toSorted()).toEqual([...parts, 'changes_cursor'].toSorted())
    expect(reply.headers.get('etag')).toBeNull()
  })

  test('has a cursor that continues with the other cards', async () => {
    const { service, board, columnId, ann } = setup
    const total = 103
    const card = (await board.read(setup.cardId)) as { id: string }
    await service.write(ann.workspaceId, async (tx) => {
      for (let i = 0; i < total - 2; i++) {
        const id = `crd_${board.id.slice(4, 14)}${String(i).padStart(10, '0')}`
        tx.create(keys.card(id), { ...card, id, column_id: columnId, title: `${i}`, position: `a${String(i).padStart(4, '0')}1` } as never)
      }
    })
    const { cards, cards_cursor } = await read('cards')
    expect(cards).toHaveLength(100)
    const rest = (await board.get(`/boards/${board.id}/cards?cursor=${cards_cursor}`)).body.data
    expect([...cards, ...rest]).toEqual(await board.all(`/boards/${board.id}/cards`))
    expect(cards.length + rest.length).toBe(total)
  })

  test('takes three accesses to the storage, whatever is on the board', async () => {
    const { service, board, ann } = setup
    const trips = async () => {
      const before = service.store.trips
      expect((await service.send(ann.read, 'GET', `/boards/${board.id}?include=${ALL}`)).status).toBe(200)
      return service.store.trips - before
    }
    // The first request of a process does not know the columns.
    expect([await trips(), await trips()]).toEqual([4, 3])
  })

  // Each change is one commit that writes something of every part. What shows some of the old and some of the new never was.
  test('shows one moment, whichever of its reads a change precedes', async () => {
    const { service, board, ann, bob, columnId, cardId } = setup
    const label = await board.label('old')
    let count = 0
    const rename = (name: string) =>
      service.write(ann.workspaceId, async (tx) => {
        const edit = async <T>(key: Key<T>, members: Partial<T>) => tx.put(key, { ...(await tx.get(key))!, ...members })
        await edit(keys.column(columnId), { name })
        await edit(keys.card(cardId), { title: name })
        await edit(keys.label(label), { name })
        await edit(keys.membership(bob.id), { display_name: name })
        await edit(keys.board(board.id), { description: name })
        if (name === 'old') return
        const id = `lbl_${String(++count).padStart(20, '0')}`
        tx.create(keys.label(id), { ...(await tx.get(keys.label(label)))!, id, name: 'Further' })
      })
    const results: unknown[] = []
    for (let access = 1, changed = true; changed; access++) {
      await rename('old')
      const [labels, expected] = [2 + 1 + count, service.store.trips]
      changed = false
      let accesses = 0
      service.store.beforeRead = async () => {
        if (changed || ++accesses < access) return
        changed = true
        service.store.beforeRead = undefined
        await rename('new')
      }
      const data = await read(ALL)
      service.store.beforeRead = undefined
      const names = [data.description, data.columns[1].name, data.cards[0].title, data.labels.find(({ id }: any) => id === label).name]
      results.push([...new Set([...names, data.members[1].display_name])].join(), data.counts.labels - labels, data.labels.length - labels)
      expect(service.store.trips).toBeGreaterThan(expected)
    }
    const rounds = results.length / 3
    expect(results).toEqual([...Array.from({ length: rounds - 1 }, () => ['new', 1, 1]).flat(), 'old', 0, 0])
    expect(rounds).toBeGreaterThan(3)
  })
})
