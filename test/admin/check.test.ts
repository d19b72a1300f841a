import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { FindingKind } from '../../src/admin/findings.ts'
import type { Finding } from '../../src/admin/check.ts'
import { setAccount } from '../../src/auth/accounts/sign-up.ts'
import { inviteUser } from '../../src/admin/users.ts'
import type { FileRecord } from '../../src/model/file.ts'
import { newId, systemRandom } from '../../src/model/ids.ts'
import { indexes } from '../../src/store/indexes.ts'
import { decorateStore, StorageUnavailable, type Value } from '../../src/store/port.ts'
import { GLOBAL, keys, type Key } from '../../src/store/keys.ts'
import { change } from '../support/changes.ts'
import { drivers } from '../support/drivers.ts'
import { findDamage } from '../support/findings.ts'
import { png } from '../support/pictures.ts'
import { Service, type Person } from '../support/service.ts'
import { TestBoard } from '../support/board.ts'

const PASSWORD_HASH = '$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2g'
/** The kinds and subjects of findings. */
const namesOf = (findings: readonly Finding[]) => findings.map(({ kind, subject }) => `${kind} ${subject}`).toSorted()

describe.each(drivers)('a check on $name', (driver) => {
  let service: Service
  let workspaceId: string
  let ann: Person
  let bob: Person
  let board: TestBoard
  let columnId: string
  let cardId: string
  let labelId: string
  let attachmentId: string
  let file: FileRecord

  const get = <T>(key: Key<T>, partition = workspaceId) => service.write(partition, (tx) => tx.get(key)) as Promise<T>
  const put = (key: string, value: object, partition = workspaceId) =>
    service.write(partition, async (tx) => {
      await tx.get(key)
      tx.put(key, value)
    })
  /** Writes a record without its index entries. */
  const raw = (key: string, value: object) => service.store.commit(workspaceId, change({ put: { [key]: value } }))
  const remove = (key: string, partition = workspaceId) =>
    service.write(partition, async (tx) => {
      await tx.get(key)
      tx.remove(key)
    })
  const edit = async (key: string, members: object, partition = workspaceId) =>
    put(key, { ...((await get(key, partition)) as object), ...members }, partition)
  const check = (options = {}) => findDamage(service.adminDeps, options)
  const contentOf = async (partition: string) => {
    const records: (readonly [string, Value])[] = []
    for await (const batch of service.adminDeps.store.dump(partition)) records.push(...batch)
    // Uses of tokens are recorded in the background.
    return records.filter(([key]) => !key.startsWith('token_use:'))
  }

  beforeEach(async () => {
    service = await Service.start(driver)
    workspaceId = await service.workspace()
    ann = await service.person(workspaceId, 'member', 'Ann')
    bob = await service.person(workspaceId, 'member', 'Bob')
    await service.write(GLOBAL, (tx) =>
      setAccount(tx, { userId: ann.id, email: 'ann@example.com', passwordHash: PASSWORD_HASH }, service.deps.clock),
    )
    await inviteUser(service.deps, bob.id, 'http://localhost')
    board = await TestBoard.create(service, ann)
    await board.add(bob)
    columnId = await board.column()
    cardId = await board.card(columnId)
    labelId = await board.label()
    await board.put(`/cards/${cardId}/labels/${labelId}`)
    await board.put(`/cards/${cardId}/assignees/${bob.id}`)
    await board.subtask(cardId)
    await board.comment(cardId)
    attachmentId = await board.image(cardId)
    await board.put(`/cards/${cardId}/cover`, { attachment_id: attachmentId })
    file = await get(keys.file((await get(keys.attachment(attachmentId))).file_id))
    await service.app.services.usage.settled()
  })

  afterEach(() => service.stop())

  test('of undamaged storage finds nothing, also while resources are deleted', async () => {
    expect((await check()).summary).toEqual({
      partitions: 2,
      records: expect.any(Number),
      files: 1,
      bytes: png(1, 1).length,
      damage: 0,
      repaired: 0,
      remarks: 0,
    })
    await board.delete(`/labels/${labelId}`)
    await board.card(columnId, 'remains')
    await board.delete(`/cards/${cardId}`)
    expect((await check()).findings).toEqual([])
    await board.delete(`/boards/${board.id}`)
    expect((await check()).findings).toEqual([])
    expect((await check({ reindex: true })).findings).toEqual([])
  })

  test.each<[what: string, plant: () => Promise<unknown>, kind: FindingKind, subjects: () => string, message: RegExp]>([
    ['a value that its schema refuses', () => edit(keys.card(cardId), { title: 7 }), 'record_invalid', () => `card:${cardId}`, /title/],
    [
      'a member that its schema does not have',
      () => edit(keys.board(board.id), { more: 1 }),
      'record_invalid',
      () => `board:${board.id}`,
      /more/,
    ],
    [
      "another key than its record's",
      async () => raw('label:lbl_00000000000000000000', await get(keys.label(labelId))),
      'record_invalid',
      () => 'label:lbl_00000000000000000000',
      /is not the key of its record/,
    ],
    ['a kind that is not known', () => raw('thing:1', {}), 'record_invalid', () => 'thing:1', /unknown kind of record "thing"/],
    ['a kind of another partition', () => raw('session:1', {}), 'record_invalid', () => 'session:1', /unknown kind/],
    [
      'an account without an e-mail address',
      () => edit(keys.account(ann.id), { email: 7 }, GLOBAL),
      'record_invalid',
      () => `account:${ann.id}`,
      /email/,
    ],
    [
      'a column of another board',
      () => edit(keys.column(columnId), { board_id: `brd_${'0'.repeat(20)}` }),
      'reference_broken',
      () => `card:${cardId} column:${columnId}`,
      /column:col_|board:brd_/,
    ],
    [
      'a tombstone of a card that exists',
      () =>
        put('tombstone:tmb_00000000000000000000', { id: 'tmb_00000000000000000000', kind: 'card', target: cardId, not_before: board.now }),
      'reference_broken',
      () => 'tombstone:tmb_00000000000000000000',
      /must not exist/,
    ],
    [
      'an e-mail address of another user',
      () => edit(keys.account(ann.id), { email: 'other@example.com' }, GLOBAL),
      'reference_broken',
      () => `account:${ann.id}`,
      /account_email:/,
    ],
    ['bytes that are missing', () => service.adminDeps.blobs.remove(file.blob_id), 'bytes_damaged', () => `file:${file.id}`, /are missing/],
    [
      'bytes that are incomplete',
      () => service.adminDeps.blobs.write(file.blob_id, bytesOf('hell')),
      'bytes_damaged',
      () => `file:${file.id}`,
      /are incomplete/,
    ],
    [
      'bytes that were changed',
      () => service.adminDeps.blobs.write(file.blob_id, bytesOf('x'.repeat(png(1, 1).length))),
      'bytes_damaged',
      () => `file:${file.id}`,
      /do not have the SHA-256/,
    ],
    [
      'a workspace that is not listed',
      () => remove(keys.workspaceEntry(workspaceId), GLOBAL),
      'workspace_incomplete',
      () => `workspace_entry:${workspaceId}`,
      /not in the list/,
    ],
    ['a workspace without its record', () => remove(keys.workspace()), 'workspace_incomplete', () => 'workspace:self', /no record/],
    [
      'a listed workspace without records',
      () => put(keys.workspaceEntry('wsp_00000000000000000000'), { id: 'wsp_00000000000000000000' }, GLOBAL),
      'workspace_incomplete',
      () => 'workspace:self',
      /no record/,
    ],
  ])('names %s', async (_what, plant, kind, subjects, message) => {
    await plant()
    const { findings, summary } = await check()
    const damage = findings.filter((finding) => finding.kind !== 'bytes_unreferenced')
    expect(namesOf(damage).filter((name, i, all) => name !== all[i - 1])).toEqual(
      subjects()
        .split(' ')
        .map((subject) => `${kind} ${subject}`),
    )
    expect(damage.filter((finding) => !message.test(finding.message))).toEqual([])
    expect(summary.damage).toBe(damage.length)
  })

  /** By the kind of a record that is missing: the kinds of those that need it. */
  test.each<[missing: string, needing: string[]]>([
    ['account', ['account_email']],
    ['account_email', ['account']],
    ['attachment', ['card']],
    ['board', ['board_member', 'card', 'column', 'label']],
    ['card', ['attachment', 'comment', 'subtask']],
    ['column', ['card']],
    ['file', ['attachment']],
    ['label', ['card']],
    ['membership', ['board_member', 'card', 'notice', 'notice_mail', 'token']],
    ['token', ['token_hash']],
    ['token_hash', ['token']],
    ['user', ['sign_up', 'workspace_link']],
  ])('names the records that refer to a missing record of the kind %s', async (missing, needing) => {
    const [inWorkspace, global] = [await contentOf(workspaceId), await contentOf(GLOBAL)]
    const ofKind = [...inWorkspace, ...global].filter(([key]) => key.startsWith(`${missing}:`))
    // Bob has not used his tokens.
    const [key] = ofKind.find(([one, value]) => one.endsWith(bob.id) || value['user_id'] === bob.id) ?? ofKind[0]!
    await remove(key, global.some(([one]) => one === key) ? GLOBAL : workspaceId)
    const found = (await check()).findings.filter(({ kind }) => kind !== 'bytes_unreferenced')
    expect([...new Set(found.map(({ subject }) => subject.split(':')[0]))].toSorted()).toEqual(needing)
    const message = `it needs ${key}, which is missing or does not match`
    expect(found.filter((finding) => finding.kind !== 'reference_broken' || finding.message !== message)).toEqual([])
  })

  test('names a card whose readiness is missing, or contradicts its blockers', async () => {
    const blocked = await board.card(columnId, 'Blocked', { blocker_ids: [cardId] })
    const key = keys.readiness(blocked)
    const found = async () => namesOf((await check()).findings)
    expect(await found()).toEqual([])
    await edit(key, { open_blocker_ids: [] })
    expect(await found()).toEqual([`reference_broken ${key}`])
    await edit(key, { open_blocker_ids: [cardId], position: 'zz' })
    expect(await found()).toEqual([`reference_broken card:${blocked}`])
    await remove(key)
    expect(await found()).toEqual([`reference_broken card:${blocked}`])
    await put(keys.readiness(cardId), { ...(await get(keys.card(cardId))), nothing: true })
    expect(await found()).toContain(`record_invalid readiness:${cardId}`)
  })

  test('names a card with waiting work whose readiness or claim is missing or wrong', async () => {
    const waits = await board.card(columnId, 'Waits')
    const { epoch } = (await board.put(`/cards/${waits}/claim`, {})).body.data
    await board.send('POST', `/cards/${waits}/claim/question`, { question: 'x' }, { 'if-claim': `${epoch}` })
    const [readiness, claim] = [keys.readiness(waits), keys.claim(waits)]
    const [waiting, question] = [await get(readiness), (await get(claim)).question_id as string]
    const found = async () => namesOf((await check()).findings)
    expect(await found()).toEqual([])
    await put(readiness, { ...waiting, held: 'stuck' })
    expect(await found()).toEqual([`reference_broken ${claim}`, `reference_broken ${readiness}`])
    await put(readiness, waiting)
    expect(await found()).toEqual([])
    const comment = await get(keys.comment(question))
    await remove(keys.comment(question))
    expect(await found()).toEqual([`reference_broken ${claim}`])
    await put(keys.comment(question), comment)
    await remove(readiness)
    expect(await found()).toEqual([`reference_broken ${claim}`])
    await put(readiness, { ...waiting, position: 'zz' })
    expect(await found()).toContain(`reference_broken ${readiness}`)
  })

  test('names a wrong count of the bytes of files, and corrects it with `reindex`', async () => {
    const used = await get(keys.fileBytes())
    await put(keys.fileBytes(), { bytes: used.bytes + 5 })
    const wrong = `file_bytes_wrong ${keys.fileBytes()}`
    const found = (await check()).findings
    expect(namesOf(found)).toEqual([wrong])
    expect(found[0]).toMatchObject({ message: `it counts ${used.bytes + 5} bytes; the files have ${used.bytes}` })
    expect((await check({ reindex: true })).findings).toMatchObject([{ kind: 'file_bytes_wrong', repaired: true }])
    expect(await get(keys.fileBytes())).toEqual(used)
    expect((await check()).findings).toEqual([])
  })

  describe('of indexes', () => {
    test('names an index with an entry that the readiness of its card hides, and removes the entry with `reindex`', async () => {
      const stuck = await board.card(columnId, 'Stuck')
      const { epoch } = (await board.put(`/cards/${stuck}/claim`, {})).body.data
      await board.send('POST', `/cards/${stuck}/claim/question`, { question: 'x' }, { 'if-claim': `${epoch}` })
      const [ready, entry] = [indexes.readyCards(columnId).name, `${(await get(keys.card(stuck))).position} ${stuck}`]
      await service.store.commit(workspaceId, change({ index: { [ready]: { add: [entry] } } }))
      expect(namesOf((await check()).findings)).toEqual([`index_entry_stray ${ready} ${entry}`])
      await check({ reindex: true })
      expect(namesOf((await check()).findings)).toEqual([])
    })

    const entry = async () => `${(await get(keys.card(cardId))).position} ${cardId}`
    const damage = async () => {
      const listed = indexes.cards('active', columnId).name
      const stray = `a0 crd_${'0'.repeat(20)}`
      await service.store.commit(
        workspaceId,
        change({
          index: {
            [listed]: { remove: [await entry()], add: [stray] },
            [indexes.boardsOf(bob.id).name]: { add: [`${board.now} brd_${'0'.repeat(20)}`] },
            [indexes.cards('archived', columnId).name]: { add: [await entry()] },
            trash: { add: ['2026 trs_1'] },
          },
        }),
      )
      return [
        `index_entry_missing ${listed} ${await entry()}`,
        `index_entry_stray ${indexes.cards('archived', columnId).name} ${await entry()}`,
        `index_entry_stray ${listed} ${stray}`,
        `index_entry_stray boards_of:${bob.id} ${board.now} brd_${'0'.repeat(20)}`,
        'index_entry_stray trash 2026 trs_1',
      ].toSorted()
    }

    test('names missing entries and entries without a record, repairs them with `reindex`, and changes no record', async () => {
      const planted = await damage()
      expect(await board.titles()).toEqual([])
      const before = await contentOf(workspaceId)
      for (let time = 0; time < 2; time++) expect(namesOf((await check()).findings)).toEqual(planted)
      const { findings, summary } = await check({ reindex: true })
      expect(namesOf(findings)).toEqual(planted)
      expect(summary).toMatchObject({ damage: 0, repaired: planted.length })
      expect((await check()).findings).toEqual([])
      expect(await board.titles()).toEqual(['Card'])
      expect(await contentOf(workspaceId)).toEqual(before)
    })

    test('rebuilds all indexes from the records alone', async () => {
      const entriesOf = (name: string) =>
        service.write(workspaceId, async (tx) => [...(await tx.all({ name, fetch: 'x:' }, { entriesOnly: true })).entries])
      const removed: Record<string, { remove: string[] }> = {}
      for await (const names of service.adminDeps.store.indexNames(workspaceId))
        for (const name of names) removed[name] = { remove: await entriesOf(name) }
      await service.store.commit(workspaceId, change({ index: removed }))
      const repaired = Object.values(removed).flatMap(({ remove: entries }) => entries).length
      expect((await check({ reindex: true })).summary).toMatchObject({ damage: 0, repaired })
      expect((await check()).findings).toEqual([])
      for (const [name, { remove: entries }] of Object.entries(removed)) expect(await entriesOf(name)).toEqual(entries)
    })
  })

  test('finds a lost workspace entry with `reindex`, and lists the workspace again', async () => {
    await remove(keys.workspaceEntry(workspaceId), GLOBAL)
    expect((await check({ reindex: true })).summary).toMatchObject({ damage: 0, repaired: 1 })
    expect((await check()).findings).toEqual([])
  })

  test('does not hash bytes when it is quick, and finds those that are missing or incomplete', async () => {
    const { blobs } = service.adminDeps
    const messages = async () => (await check({ quick: true })).findings.map(({ message }) => message)
    await blobs.write(file.blob_id, bytesOf('x'.repeat(png(1, 1).length)))
    expect(await messages()).toEqual([])
    await blobs.write(file.blob_id, bytesOf('hal'))
    expect(await messages()).toEqual([expect.stringContaining('are incomplete')])
    await blobs.remove(file.blob_id)
    expect(await messages()).toEqual([expect.stringContaining('are missing')])
  })

  test('reports bytes of no file and an unfinished import, which are no damage, and does not remove them', async () => {
    const blobId = newId('blob', systemRandom)
    await service.adminDeps.blobs.write(blobId, bytesOf('x'))
    await put(keys.importing(), { id: 'x', begun_at: board.now }, 'wsp_00000000000000000001')
    await put('imported_bytes:blb_00000000000000000000', { blob_id: 'blb_00000000000000000000' }, 'wsp_00000000000000000001')
    await service.adminDeps.blobs.write('blb_00000000000000000000', bytesOf('imported'))
    const { findings, summary } = await check({ reindex: true })
    expect(namesOf(findings)).toEqual([`bytes_unreferenced ${blobId}`, 'import_unfinished importing:self'])
    expect({ damage: summary.damage, remarks: summary.remarks, hasBytes: await service.adminDeps.blobs.exists(blobId) }).toEqual({
      damage: 0,
      remarks: 2,
      hasBytes: true,
    })
  })

  test('names a damaged partition and checks the others', async () => {
    await remove(keys.user(bob.id), GLOBAL)
    const failing = () =>
      Promise.reject(new StorageUnavailable('records could not be read', { cause: new Error('its checksum does not match') }))
    const store = decorateStore(service.adminDeps.store, {
      damaged: () => [workspaceId],
      read: (partition, request) => (partition === workspaceId ? failing() : service.store.read(partition, request)),
    })
    const { findings } = await findDamage({ ...service.adminDeps, store })
    expect(findings.find(({ kind }) => kind === 'partition_damaged')).toEqual({
      partition: workspaceId,
      kind: 'partition_damaged',
      subject: workspaceId,
      message: 'its checksum does not match',
    })
    // The bytes of its files are not taken for bytes without a file.
    expect([...new Set(findings.map(({ kind }) => kind))].toSorted()).toEqual(['partition_damaged', 'reference_broken'])
  })

  test('fails when storage fails', async () => {
    const store = decorateStore(service.adminDeps.store, { read: () => Promise.reject(new StorageUnavailable('gone')) })
    await expect(findDamage({ ...service.adminDeps, store })).rejects.toThrow('gone')
  })
})

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}
