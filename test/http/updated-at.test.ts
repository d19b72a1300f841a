import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { keys } from '../../src/store/keys.ts'
import { drivers } from '../support/drivers.ts'
import { createAllowed, exampleBody, pathOf, type Facts, type Scenario } from '../support/scenario.ts'
import { setUpObservedWorld, writtenKeys } from './observed-commits.ts'

/** The names of the records of a scenario: its parameters, without `_id`, and {@link namesOf}. */
type Names = readonly string[]

/** The records that a write changes, creates and removes. Everything else must stay as it is. */
interface Write {
  readonly changed?: Names
  /** kinds of records. Those without `updated_at` are changed, created or removed too. */
  readonly created?: Names
  readonly removed?: Names
  /** default: from the example of the operation */
  readonly path?: string
  readonly body?: object
  /** requests before it, without their effects */
  readonly first?: readonly (readonly [method: string, path: string, body?: object])[]
  /** the scenario, if it is not the one where the example is allowed */
  readonly facts?: Facts
  readonly related?: true
}

const PRIVATE = { visibility: 'private' }
const ARCHIVED = [['POST', '/cards/{card_id}/archive']] as const

/** Every write of the operations table. Written by hand. */
const writes: Readonly<Record<string, Write>> = {
  'boards.create': { created: ['board'] },
  'boards.update': { changed: ['board'] },
  // The user has no access to a private board, and is assigned to the card.
  'boards.set_visibility': { body: PRIVATE, related: true, changed: ['board', 'card'] },
  'boards.delete': { created: ['tombstone'], removed: ['board'] },

  'board_members.add': { created: ['board_member'] },
  'board_members.remove': {
    facts: { 'user.board': 'member' },
    first: [['PUT', '/boards/{board_id}/visibility', PRIVATE]],
    changed: ['card'],
    removed: ['member'],
  },

  'boards.batch': {
    body: {
      operations: [
        { operation: 'columns.create', body: { name: 'New' } },
        { operation: 'cards.move', params: { card_id: '{card_id}' }, body: { column_id: '$0' } },
        { operation: 'comments.delete', params: { comment_id: '{comment_id}' } },
      ],
    },
    changed: ['card'],
    created: ['column'],
    removed: ['comment'],
  },

  'columns.create': { created: ['column'] },
  'columns.rename': { changed: ['column'] },
  'columns.move': { changed: ['column'] },
  'columns.archive': { changed: ['column'] },
  'columns.restore': { first: [['POST', '/columns/{column_id}/archive']], changed: ['column'] },

  'cards.create': { body: { column_id: '{column_id}', title: 'New', before: '{card_id}' }, created: ['card'] },
  'cards.update': { changed: ['card'] },
  'cards.move': { changed: ['card'] },
  'cards.complete': { changed: ['card'] },
  'cards.archive': { changed: ['card'] },
  'cards.restore': { first: [['POST', '/cards/{card_id}/archive']], changed: ['card'] },
  'cards.delete': { created: ['tombstone'], removed: ['card', 'readiness'] },

  'labels.create': { created: ['label'] },
  'labels.update': { changed: ['label'] },
  'labels.delete': { changed: ['card'], removed: ['label'] },

  'cards.assign': { changed: ['card'], created: ['notice', 'notice_mail', 'tombstone'] },
  'cards.unassign': { changed: ['card'] },
  'cards.apply_label': { changed: ['card'] },
  'cards.remove_label': { changed: ['card'] },

  'blockers.add': { changed: ['card'], created: ['readiness'] },
  'blockers.remove': { changed: ['card'], removed: ['readiness'] },

  'subtasks.create': { body: { title: 'New', before: '{subtask_id}' }, created: ['subtask'] },
  'subtasks.update': { changed: ['subtask'] },
  'subtasks.delete': { removed: ['subtask'] },

  'comments.create': { created: ['comment'] },
  'comments.update': { changed: ['comment'] },
  'comments.delete': { removed: ['comment'] },

  'attachments.attach': { created: ['attachment'] },
  'attachments.upload': { created: ['attachment', 'file'] },
  // The file is attached to no other card, so it is removed later.
  'attachments.detach': { created: ['tombstone'], removed: ['attachment'] },
  'cards.set_cover': { changed: ['card'] },
  'cards.clear_cover': { changed: ['card'] },

  'webhooks.create': { created: ['webhook', 'webhook_progress'] },
  'webhooks.update': { body: { kinds: ['card'] }, changed: ['webhook'] },
  'webhooks.delete': { removed: ['webhook', 'webhook_progress'] },
  'webhooks.rotate_secret': { changed: ['webhook'] },
  'webhooks.test': { created: ['webhook_deliveries'] },

  'files.update': { path: '/files/{attached_file_id}', changed: ['attached_file', 'attachment'] },
}

/** Further cases of the same operations: the other effects of a write. Its other members: resources/lifecycle.test.ts. */
const variants: readonly (readonly [operation: string, write: Write])[] = [
  ['boards.set_visibility', { body: { visibility: 'workspace' }, facts: { 'board.visibility': 'private' }, changed: ['board'] }],
  // An archived card changes, too.
  ['boards.set_visibility', { body: PRIVATE, related: true, first: ARCHIVED, changed: ['board', 'card'] }],
  ['labels.delete', { first: ARCHIVED, changed: ['card'], removed: ['label'] }],
  ['cards.move', { body: { before: '{blocker_id}' }, changed: ['card'] }],
  ['columns.create', { body: { name: 'New', before: '{column_id}' }, created: ['column'] }],
  [
    'attachments.detach',
    {
      path: '/attachments/{cover_attachment_id}',
      facts: { 'cover.state': 'set' },
      changed: ['card'],
      created: ['tombstone'],
      removed: ['cover_attachment'],
    },
  ],
]
const cases = [...Object.entries(writes), ...variants].map(
  ([id, write]) => [`${id} ${JSON.stringify(write.body ?? {})}`, id, write] as const,
)

test('the table has every write of the operations table', () => {
  // A claim, what it comes to, and a notice have no such time, and are no change of their card: see claims.test.ts, work.test.ts, notices.test.ts.
  const ids = operations
    .filter(({ isRead, row, id }) => !isRead && row !== 'X11' && row !== 'X13' && !id.startsWith('claims.'))
    .map(({ id }) => id)
  expect(Object.keys(writes).toSorted()).toEqual(ids.toSorted())
})

/** The keys of the records of a scenario, by their names. */
function namesOf({ params }: Scenario): ReadonlyMap<string, string> {
  const kindOf = (name: string) => ({ blocker: 'card', cover_attachment: 'attachment', attached_file: 'file' })[name] ?? name
  const names = Object.entries(params).map(([parameter, id]) => [parameter.replace(/_id$/, ''), id] as const)
  return new Map<string, string>([
    ...names.filter(([name]) => name !== 'user').map(([name, id]) => [name, `${kindOf(name)}:${id}`] as const),
    ['member', keys.boardMember(params['board_id']!, params['user_id']!)],
    ['readiness', keys.readiness(params['card_id']!)],
    ['webhook_progress', keys.webhookProgress(params['webhook_id']!)],
  ])
}

/** The members that are no id, list of ids, time or boolean: a change does not have what they were. */
const NOT_KEPT: ReadonlySet<string> = new Set([
  'name',
  'title',
  'description',
  'body',
  'color',
  'cover_color',
  'visibility',
  'position',
  'wip_limit',
  'max_attempts',
  'outcome',
  'external_ref',
])

/** Whether a record belongs to the change feed itself, or counts what others have. */
function isOfFeed(key: string, value: unknown): boolean {
  return /^(change|file_bytes):/.test(key) || (value as { kind?: string } | undefined)?.kind === 'changes'
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
  const setup = setUpObservedWorld(driver)

  /** All records of the workspace by their keys. An attachment also has what the API shows of its file. */
  const readRecords = async (): Promise<Records> => {
    const records = new Map<string, Record<string, unknown>>()
    for await (const batch of setup.service.store.dump(setup.world.workspaceId))
      for (const [key, value] of batch) if (!isOfFeed(key, value)) records.set(key, value)
    for (const [key, value] of records) {
      if (!key.startsWith('attachment:')) continue
      const { owner_id, visibility, picture = null } = records.get(`file:${String(value['file_id'])}`)!
      records.set(key, { ...value, owner_id, visibility, picture })
    }
    return records
  }

  test.each(cases)('%s changes updated_at of exactly the resources that it changes', async (_title, id, write) => {
    const { service, world, changes } = setup
    const { body, first = [], changed = [], created = [], removed = [], facts, related } = write
    const row = operations.find((one) => one.id === id)!
    const { caller, params } = await createAllowed(world, row, { facts, related })
    const attached = await service.send(caller.read, 'GET', `/attachments/${params['attachment_id']}`)
    const scenario = { caller, params: { ...params, attached_file_id: attached.body.data.file_id as string } }
    const send = async (method: string, path: string, sent?: unknown) => {
      const reply = await service.send(caller.admin, method, pathOf(path, scenario), sent)
      expect(reply.status, reply.text).toBeLessThan(300)
      return reply.body
    }
    const names = namesOf(scenario)
    const keyOf = (name: string) => names.get(name)!
    const namesOfKeys = (all: Iterable<string>) => [...all].map((key) => [...names].find(([, one]) => one === key)?.[0] ?? key).toSorted()

    for (const request of first) await send(...request)
    const cursor = (await send('GET', '/boards/{board_id}?include=labels')).data.changes_cursor
    const before = await readRecords()
    const now = new Date((service.now += 1000)).toISOString()
    const sent = body === undefined ? exampleBody(id, scenario) : JSON.parse(pathOf(JSON.stringify(body), scenario))
    await send(row.method, write.path ?? row.path, sent)
    const written = writtenKeys(changes.at(-1)!).filter((key) => !isOfFeed(key, changes.at(-1)!.put.get(key)))
    const after = await readRecords()
    // The tombstone of the bytes that were received.
    const own = row.takesUpload ? written.filter((key) => !key.startsWith('tombstone:')) : written

    const different = differences(before, after)
    expect(namesOfKeys(different.changed)).toEqual(changed.toSorted())
    expect(namesOfKeys(different.updated)).toEqual(changed.toSorted())
    const added = [...after.keys()].filter((key) => !before.has(key))
    expect(added.map((key) => key.slice(0, key.indexOf(':')))).toEqual(created)
    expect(namesOfKeys([...before.keys()].filter((key) => !after.has(key)))).toEqual(removed.toSorted())
    // Nothing else was written, not even with the same content.
    // A notice is appended to an index.
    const put = added.filter((key) => !key.startsWith('notice:'))
    expect(own).toEqual([...changed.map(keyOf), ...put, ...removed.map(keyOf)].toSorted())
    const timesOf = (key: string) => [after.get(key)!['created_at'], after.get(key)!['updated_at']]
    expect(changed.map((name) => timesOf(keyOf(name))[1])).toEqual(changed.map(() => now))
    const withTimes = added.filter((key) => !/^(board_member|notice|notice_mail|readiness|tombstone|webhook_\w+):/.test(key))
    expect(withTimes.map(timesOf)).toEqual(withTimes.map(() => [now, now]))

    // A client that follows the board gets exactly these changes, each once.
    if (removed.includes('board')) return
    const onBoard = (all: readonly string[], action: string) =>
      all.filter((key) => !/^(file|notice|notice_mail|readiness|tombstone|webhook\w*):/.test(key)).map((key) => `${action} ${key}`)
    const boardId = id === 'boards.create' ? added[0]!.slice('board:'.length) : params['board_id']!
    const feed = (await send('GET', `/boards/${boardId}/changes${id === 'boards.create' ? '' : `?after=${cursor}`}`)).data
    const keyInFeed = ({ kind, id: of }: { kind: string; id: string }) =>
      kind === 'board_member' ? keys.boardMember(boardId, of) : `${kind}:${of}`
    expect(feed.map((change: any) => `${change.action} ${keyInFeed(change)}`).toSorted()).toEqual(
      [...onBoard(changed.map(keyOf), 'updated'), ...onBoard(added, 'created'), ...onBoard(removed.map(keyOf), 'deleted')].toSorted(),
    )
    const made = id === 'boards.batch' ? sent.operations.map((one: { operation: string }) => one.operation) : [id]
    for (const change of feed) {
      expect({ actorId: change.actor_id, at: change.at }).toEqual({ actorId: caller.id, at: now })
      expect(made).toContain(change.operation)
      if (change.kind === 'board_member') continue
      const key = keyInFeed(change)
      expect(change.data).toEqual((change.action === 'deleted' ? before : after).get(key))
      // The names of the members that changed, and what they were.
      if (change.action !== 'updated') continue
      const [old, present] = [before.get(key)!, after.get(key)!]
      const members = Object.keys(present).filter((name) => name !== 'updated_at' && !isDeepStrictEqual(old[name], present[name]))
      const kept = members.filter((name) => !NOT_KEPT.has(name))
      expect({ changed: change.changed, from: change.from }).toEqual({
        changed: members,
        from: Object.fromEntries(kept.map((name) => [name, old[name]])),
      })
    }
  })
})
