import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Card } from '../../src/model/card.ts'
import { newId, type IdKind } from '../../src/model/ids.ts'
import { operations } from '../../src/resources/table.ts'
import { keys, type Key } from '../../src/store/keys.ts'
import { recordUses, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { Service, type Person } from '../support/service.ts'
import { observeCommits, writtenKeys } from './observed-commits.ts'

/** The names of the records in a {@link Fixture}, and `+kind` for a record that the request creates. */
type Names = readonly string[]

/** A write, and the records that it changes, creates and removes. Everything else must stay as it is. */
interface Write {
  /** with names of the fixture in place of ids */
  readonly path: string
  readonly body?: object
  /** requests before it, without their effects */
  readonly first?: readonly (readonly [method: string, path: string, body?: object])[]
  readonly changed?: Names
  /** records without `updated_at` are changed, created or removed too */
  readonly created?: Names
  readonly removed?: Names
}

const PRIVATE = ['PUT', '/boards/{board}/visibility', { visibility: 'private' }] as const

/** Every write of the operations table. Written by hand. */
const writes: Readonly<Record<string, Write>> = {
  'boards.create': { path: '/boards', body: { name: 'New' }, created: ['board'] },
  'boards.update': { path: '/boards/{board}', body: { name: 'New' }, changed: ['board'] },
  // Cyd has no access to a private board, and is assigned to two of its cards.
  'boards.set_visibility': { path: PRIVATE[1], body: PRIVATE[2], changed: ['board', 'card', 'archived'] },
  'boards.delete': { path: '/boards/{board}', created: ['tombstone'], removed: ['board'] },

  'board_members.add': { path: '/boards/{board}/members/{cyd}', created: ['board_member'] },
  'board_members.remove': { path: '/boards/{board}/members/{bob}', first: [PRIVATE], changed: ['card'], removed: ['bob on the board'] },

  'boards.batch': {
    path: '/boards/{board}/batch',
    body: {
      operations: [
        { operation: 'columns.create', body: { name: 'New' } },
        { operation: 'cards.move', params: { card_id: '{card}' }, body: { column_id: '$0' } },
        { operation: 'comments.delete', params: { comment_id: '{comment}' } },
      ],
    },
    changed: ['card'],
    created: ['column'],
    removed: ['comment'],
  },

  'columns.create': { path: '/boards/{board}/columns', body: { name: 'New', before: '{column}' }, created: ['column'] },
  'columns.rename': { path: '/columns/{column}', body: { name: 'New' }, changed: ['column'] },
  'columns.move': { path: '/columns/{last column}/move', body: { to: 'first' }, changed: ['last column'] },
  'columns.archive': { path: '/columns/{column}/archive', changed: ['column'] },
  'columns.restore': { path: '/columns/{column}/restore', first: [['POST', '/columns/{column}/archive']], changed: ['column'] },

  'cards.create': { path: '/boards/{board}/cards', body: { column_id: '{column}', title: 'New', before: '{card}' }, created: ['card'] },
  'cards.update': { path: '/cards/{card}', body: { title: 'New' }, changed: ['card'] },
  'cards.move': { path: '/cards/{last card}/move', body: { to: 'first' }, changed: ['last card'] },
  'cards.complete': { path: '/cards/{card}/completion', body: { completed: true }, changed: ['card'] },
  'cards.archive': { path: '/cards/{card}/archive', changed: ['card'] },
  'cards.restore': { path: '/cards/{archived}/restore', changed: ['archived'] },
  'cards.delete': { path: '/cards/{card}', created: ['tombstone'], removed: ['card'] },

  'labels.create': { path: '/boards/{board}/labels', body: { name: 'New', color: '#000000' }, created: ['label'] },
  'labels.update': { path: '/labels/{label}', body: { name: 'New' }, changed: ['label'] },
  'labels.delete': { path: '/labels/{label}', changed: ['card', 'archived'], removed: ['label'] },

  'cards.assign': { path: '/cards/{last card}/assignees/{bob}', changed: ['last card'] },
  'cards.unassign': { path: '/cards/{card}/assignees/{bob}', changed: ['card'] },
  'cards.apply_label': { path: '/cards/{last card}/labels/{label}', changed: ['last card'] },
  'cards.remove_label': { path: '/cards/{card}/labels/{label}', changed: ['card'] },

  'blockers.add': { path: '/cards/{last card}/blockers/{card}', changed: ['last card'], created: ['readiness'] },
  'blockers.remove': { path: '/cards/{blocked}/blockers/{last card}', changed: ['blocked'], removed: ['readiness of blocked'] },

  'subtasks.create': { path: '/cards/{card}/subtasks', body: { title: 'New', before: '{subtask}' }, created: ['subtask'] },
  'subtasks.update': { path: '/subtasks/{subtask}', body: { title: 'New' }, changed: ['subtask'] },
  'subtasks.delete': { path: '/subtasks/{subtask}', removed: ['subtask'] },

  'comments.create': { path: '/cards/{card}/comments', body: { body: 'New' }, created: ['comment'] },
  'comments.update': { path: '/comments/{comment}', body: { body: 'New' }, changed: ['comment'] },
  'comments.delete': { path: '/comments/{comment}', removed: ['comment'] },

  'attachments.attach': { path: '/cards/{last card}/attachments', body: { file_id: '{file}' }, created: ['attachment'] },
  // The file is attached to no other card, so it is removed later.
  'attachments.detach': { path: '/attachments/{cover}', changed: ['card'], created: ['tombstone'], removed: ['cover'] },
  'cards.set_cover': { path: '/cards/{card}/cover', body: { attachment_id: '{image}' }, changed: ['card'] },
  'cards.clear_cover': { path: '/cards/{card}/cover', changed: ['card'] },

  'files.update': { path: '/files/{file}', body: { visibility: 'workspace' }, changed: ['file', 'image'] },
}

/** Further cases of the same operations: the other members and effects of a write. */
const variants: readonly (readonly [operation: string, write: Write])[] = [
  ['boards.update', { path: '/boards/{board}', body: { description: 'New' }, changed: ['board'] }],
  ['boards.update', { path: '/boards/{board}', body: { cover_color: '#123456' }, changed: ['board'] }],
  ['boards.set_visibility', { path: PRIVATE[1], body: { visibility: 'workspace' }, first: [PRIVATE], changed: ['board'] }],
  ['cards.update', { path: '/cards/{card}', body: { due_at: '2027-01-01T00:00:00Z' }, changed: ['card'] }],
  ['cards.move', { path: '/cards/{card}/move', body: { column_id: '{last column}' }, changed: ['card'] }],
  ['columns.rename', { path: '/columns/{column}', body: { wip_limit: 3 }, changed: ['column'] }],
  ['columns.move', { path: '/columns/{last column}/move', body: { before: '{column}' }, changed: ['last column'] }],
  ['subtasks.update', { path: '/subtasks/{subtask}', body: { completed: true }, changed: ['subtask'] }],
  ['subtasks.update', { path: '/subtasks/{last subtask}', body: { before: '{subtask}' }, changed: ['last subtask'] }],
  ['attachments.detach', { path: '/attachments/{image}', created: ['tombstone'], removed: ['image'] }],
]
const cases = [...Object.entries(writes), ...variants].map(
  ([id, write]) => [`${id} ${JSON.stringify(write.body ?? {})}`, id, write] as const,
)

test('the table has every write of the operations table', () => {
  // A claim has no such time, and is no change of its card: see claims.test.ts.
  const ids = operations.filter(({ isRead, id }) => !isRead && !id.startsWith('claims.')).map(({ id }) => id)
  expect(Object.keys(writes).toSorted()).toEqual(ids.toSorted())
})

/** Everything that a board can have, in places where each write above has an effect. */
interface Fixture {
  readonly board: TestBoard
  /** name → id, for paths and bodies */
  readonly ids: Readonly<Record<string, string>>
  /** name → key of the record */
  readonly keys: Readonly<Record<string, string>>
}

const times = { created_at: '2026-11-01T00:00:00.000Z', updated_at: '2026-11-01T00:00:00.000Z' }

/** Writes all records but the board's in one commit, because there is a fixture for each case. */
async function createFixture(service: Service, { ann, bob, cyd }: Record<'ann' | 'bob' | 'cyd', Person>): Promise<Fixture> {
  const board = await TestBoard.create(service, ann)
  const board_id = board.id
  const records = new Map<string, readonly [key: Key<unknown>, id: string, value: object]>()
  const add = <T extends object>(
    name: string,
    kind: IdKind,
    keyOf: (id: string) => Key<T>,
    members: Omit<T, 'id' | keyof typeof times>,
  ) => {
    const id = newId(kind, service.deps.random)
    records.set(name, [keyOf(id), id, { id, ...members, ...times }])
    return id
  }
  const column = (name: string, position: string) =>
    add(name, 'column', keys.column, { board_id, name, position, wip_limit: null, archived_at: null })
  const label = (name: string) => add(name, 'label', keys.label, { board_id, name, color: '#000000' })
  const [column_id, labelId, otherLabelId] = [column('column', 'a0'), label('label'), label('other label')]
  column('last column', 'a1')
  const card = (name: string, position: string, members: Partial<Card>) => {
    const dates = { due_at: null, completed_at: null, completed_by_id: null, archived_at: null }
    const relations = { assignee_ids: [], label_ids: [], blocker_ids: [], cover_attachment_id: null, creator_id: ann.id }
    return add(name, 'card', keys.card, { board_id, column_id, title: name, description: '', position, ...dates, ...relations, ...members })
  }
  const cover_attachment_id = newId('attachment', service.deps.random)
  const card_id = card('card', 'a0', { assignee_ids: [bob.id, cyd.id], label_ids: [labelId, otherLabelId], cover_attachment_id })
  card('archived', 'a1', { assignee_ids: [cyd.id], label_ids: [labelId], archived_at: times.created_at })
  const last = card('last card', 'a2', {})
  const blocker_ids = [last]
  const blocked = card('blocked', 'a3', { blocker_ids })
  const readiness = { card_id: blocked, board_id, column_id, position: 'a3', is_open: true, blocker_ids, open_blocker_ids: blocker_ids }
  records.set('readiness of blocked', [keys.readiness(blocked), blocked, readiness])
  for (const [name, position] of [
    ['subtask', 'a0'],
    ['last subtask', 'a1'],
  ] as const)
    add(name, 'subtask', keys.subtask, { card_id, title: name, completed_at: null, position })
  add('comment', 'comment', keys.comment, { card_id, author_id: ann.id, body: 'Comment' })
  const image = { name: 'a.png', content_type: 'image/png', size: 0 }
  const access = { owner_id: ann.id, visibility: 'private', board_id } as const
  const file = (name: string) =>
    add(name, 'file', keys.file, { ...image, ...access, blob_id: newId('blob', service.deps.random), sha256: '0' })
  const attachment = { card_id, ...image, attached_by_id: ann.id }
  add('image', 'attachment', keys.attachment, { ...attachment, file_id: file('file') })
  const cover = { id: cover_attachment_id, ...attachment, file_id: file('file of the cover'), ...times }
  records.set('cover', [keys.attachment(cover.id), cover.id, cover])
  const member = { board_id, user_id: bob.id, board_created_at: times.created_at, added_at: times.created_at }
  records.set('bob on the board', [keys.boardMember(board_id, bob.id), bob.id, member])
  await service.write(ann.workspaceId, async (tx) => {
    await tx.read([...records.values()].map(([key]) => key))
    for (const [key, , value] of records.values()) tx.put(key, value)
  })
  const entries = [...records].map(([name, [key, id]]) => ({ name, key, id }))
  return {
    board,
    ids: { ...Object.fromEntries(entries.map(({ name, id }) => [name, id])), board: board_id, bob: bob.id, cyd: cyd.id },
    keys: { ...Object.fromEntries(entries.map(({ name, key }) => [name, key])), board: keys.board(board_id) },
  }
}

/** Whether a record belongs to the change feed itself. */
function isOfFeed(key: string, value: unknown): boolean {
  return key.startsWith('change:') || (value as { kind?: string } | undefined)?.kind === 'changes'
}

/** A resource without the members of a file that the API does not return. */
function withoutBytes({ blob_id: _blob, sha256: _hash, ...resource }: Record<string, unknown>): Record<string, unknown> {
  return resource
}

/** Records by their keys. */
type Records = ReadonlyMap<string, Record<string, unknown>>

/** The keys of records that differ without regard to `updated_at`, and of those whose `updated_at` differs. */
function differences(before: Records, after: Records): { changed: string[]; updated: string[] } {
  const differing = [...before.keys()].filter((key) => after.has(key) && !isDeepStrictEqual(before.get(key), after.get(key)))
  const without = (from: Records, key: string) => ({ ...from.get(key), updated_at: undefined })
  return {
    changed: differing.filter((key) => !isDeepStrictEqual(without(before, key), without(after, key))).toSorted(),
    updated: differing.filter((key) => before.get(key)!['updated_at'] !== after.get(key)!['updated_at']).toSorted(),
  }
}

describe.each(drivers)('updated_at, on $name', (driver) => {
  let service: Service
  let people: Record<'ann' | 'bob' | 'cyd', Person>
  const { driver: observed, changes } = observeCommits(driver)
  beforeAll(async () => {
    service = await Service.start(observed)
    const workspaceId = await service.workspace()
    const person = (name: string) => service.person(workspaceId, 'member', name)
    people = { ann: await person('Ann'), bob: await person('Bob'), cyd: await person('Cyd') }
    await recordUses(service, people.ann)
  })
  afterAll(() => service.stop())

  /** All records of the workspace by their keys. An attachment also has what the API shows of its file. */
  const readRecords = async (): Promise<Records> => {
    const records = new Map<string, Record<string, unknown>>()
    for await (const batch of service.store.dump(people.ann.workspaceId))
      for (const [key, value] of batch) if (!isOfFeed(key, value)) records.set(key, value)
    for (const [key, value] of records) {
      if (!key.startsWith('attachment:')) continue
      const { owner_id, visibility } = records.get(`file:${String(value['file_id'])}`)!
      records.set(key, { ...value, owner_id, visibility })
    }
    return records
  }
  /** The resources of the fixture that the API returns, by the keys of their records. */
  const readResources = async ({ board, keys: fixtureKeys }: Fixture): Promise<Records> => {
    const readable = Object.values(fixtureKeys).filter((key) => !/^(board_member|readiness):/.test(key))
    const replies = await Promise.all(readable.map(async (key) => [key, await board.get(`/${key.replace(':', 's/')}`)] as const))
    return new Map(replies.flatMap(([key, { status, body }]) => (status === 200 ? [[key, body.data] as const] : [])))
  }
  const fill = (text: string, { ids }: Fixture) => text.replace(/\{([\w ]+)\}/g, (_all, name: string) => ids[name]!)
  /** The cursor after all changes so far. */
  const endOfFeed = async ({ board }: Fixture): Promise<{ cursor: string }> => {
    for (let cursor = ''; ;) {
      const { data, page } = (await board.get(`/boards/${board.id}/changes?limit=100${cursor && `&after=${cursor}`}`)).body
      cursor = page.next_cursor
      if (data.length < 100) return { cursor }
    }
  }
  const request = async (fixture: Fixture, method: string, path: string, body?: object) => {
    const reply = await fixture.board.send(method, fill(path, fixture), body && JSON.parse(fill(JSON.stringify(body), fixture)))
    expect(reply.status, reply.text).toBeLessThan(300)
  }

  test.each(cases)(
    '%s changes updated_at of exactly the resources that it changes',
    async (_title, id, { path, body, first = [], ...expected }) => {
      const fixture = await createFixture(service, people)
      for (const [method, ...rest] of first) await request(fixture, method, ...rest)
      const { cursor } = await endOfFeed(fixture)
      const before = await readRecords()
      const now = fixture.board.tick()
      await request(fixture, operations.find((row) => row.id === id)!.method, path, body)
      const written = writtenKeys(changes.at(-1)!).filter((key) => !isOfFeed(key, changes.at(-1)!.put.get(key)))
      const after = await readRecords()

      const namesOf = (recordKeys: Iterable<string>) =>
        [...recordKeys].map((key) => Object.keys(fixture.keys).find((name) => fixture.keys[name] === key) ?? key).toSorted()
      const keyOf = (name: string) => fixture.keys[name]!
      const { changed = [], created = [], removed = [] } = expected
      const different = differences(before, after)
      expect(namesOf(different.changed)).toEqual(changed.toSorted())
      expect(namesOf(different.updated)).toEqual(changed.toSorted())
      const added = [...after.keys()].filter((key) => !before.has(key))
      expect(added.map((key) => key.slice(0, key.indexOf(':')))).toEqual(created)
      expect(namesOf([...before.keys()].filter((key) => !after.has(key)))).toEqual(removed.toSorted())
      // Nothing else was written, not even with the same content.
      expect(written).toEqual([...changed.map(keyOf), ...added, ...removed.map(keyOf)].toSorted())
      const timesOf = (key: string) => [after.get(key)!['created_at'], after.get(key)!['updated_at']]
      expect(changed.map((name) => timesOf(keyOf(name))[1])).toEqual(changed.map(() => now))
      const withTimes = added.filter((key) => !/^(board_member|readiness|tombstone):/.test(key))
      expect(withTimes.map(timesOf)).toEqual(withTimes.map(() => [now, now]))

      // The API returns these records. What belongs to a deleted board or card is not found.
      const resources = await readResources(fixture)
      for (const [key, resource] of resources) expect(resource).toEqual(withoutBytes(after.get(key)!))
      expect(changed.map(keyOf).filter((key) => !resources.has(key))).toEqual([])

      // A client that follows the board gets exactly these changes, each once.
      if (removed.includes('board')) return
      const onBoard = (recordKeys: readonly string[], action: string) =>
        recordKeys.filter((key) => !/^(file|readiness|tombstone):/.test(key)).map((key) => `${action} ${key}`)
      const expectedChanges = [
        ...onBoard(changed.map(keyOf), 'updated'),
        ...onBoard(added, 'created'),
        ...onBoard(removed.map(keyOf), 'deleted'),
      ]
      const boardId = id === 'boards.create' ? added[0]!.slice('board:'.length) : fixture.board.id
      const feed = (await fixture.board.get(`/boards/${boardId}/changes${id === 'boards.create' ? '' : `?after=${cursor}`}`)).body.data
      const keyInFeed = ({ kind, id: of }: { kind: string; id: string }) =>
        kind === 'board_member' ? keys.boardMember(boardId, of) : `${kind}:${of}`
      expect(feed.map((change: any) => `${change.action} ${keyInFeed(change)}`).toSorted()).toEqual(expectedChanges.toSorted())
      expect(new Set(feed.map(({ actor_id, at }: any) => `${actor_id} ${at}`))).toEqual(
        new Set(feed.length > 0 ? [`${people.ann.id} ${now}`] : []),
      )
      for (const change of feed) {
        const key = keyInFeed(change)
        if (change.kind !== 'board_member') expect(change.data).toEqual(change.action === 'deleted' ? null : after.get(key))
      }
    },
  )
})
