import { beforeEach, describe, expect, test } from 'vitest'
import { endMembership } from '../../src/admin/memberships.ts'
import { keys } from '../../src/store/keys.ts'
import { setUpBoard } from '../support/board.ts'
import { betweenSteps } from '../support/collections.ts'
import { drivers } from '../support/drivers.ts'
import type { Person } from '../support/service.ts'

const CARDS = 3

// Each commit of a cascade changes one record, so most of each change is pending after its first commit.
describe.each(drivers)('files whose changes are finished in batches, on $name', (driver) => {
  const setup = setUpBoard(driver, { batch: 1 })
  let cards: string[]
  let dan: Person
  beforeEach(async () => {
    cards = []
    for (let i = 0; i < CARDS; i++) cards.push(await setup.board.card(setup.columnId, `Card ${i}`))
    dan = await setup.service.person(setup.workspaceId, 'member', 'Dan')
  })

  const read = async (person: Person, path: string) => (await setup.service.send(person.write, 'GET', path)).body.data
  /** A file of Dan that is attached to each card. */
  const upload = async (visibility: string) => {
    const first = (await setup.board.attach(cards[0]!, { visibility, token: dan.write })).body.data
    const rest = cards.slice(1).map((id) => setup.service.send(dan.write, 'POST', `/cards/${id}/attachments`, { file_id: first.file_id }))
    return {
      fileId: first.file_id as string,
      attachments: [first.id, ...(await Promise.all(rest)).map(({ body }) => body.data.id)] as string[],
    }
  }
  test('a private file of a former member is accessible on its board from the end of the membership on, for good', async () => {
    const { service, workspaceId, bob, cyd, board } = setup
    const files = [await upload('private'), await upload('private')]
    const [shared, own] = [await upload('workspace'), await upload('board')]
    const before = await Promise.all(files.map(({ attachments }) => board.get(`/attachments/${attachments[2]}`)))
    const { changes_cursor } = await read(bob, `/boards/${board.id}?include=labels`)
    await endMembership(service.deps, workspaceId, dan.id)
    const steps = await betweenSteps(service, workspaceId, async () => {
      for (const [i, { fileId, attachments }] of files.entries()) {
        expect((await read(bob, `/files/${fileId}`)).visibility).toBe('board')
        for (const id of attachments) expect((await read(bob, `/attachments/${id}`)).visibility).toBe('board')
        for (const id of cards)
          for (const { visibility, file_id } of await board.all(`/cards/${id}/attachments`))
            if (file_id === fileId) expect(visibility).toBe('board')
        const stale = { 'if-none-match': before[i]!.headers.get('etag')! }
        expect((await board.send('GET', `/attachments/${attachments[2]}`, undefined, stale)).status).toBe(200)
      }
      expect((await read(cyd, `/files/${shared.fileId}`)).visibility).toBe('workspace')
      expect((await read(cyd, `/files/${own.fileId}`)).visibility).toBe('board')
    })
    expect(steps).toBeGreaterThan(2 * CARDS)
    for (const { fileId } of files) expect((await service.write(workspaceId, (tx) => tx.get(keys.file(fileId))))!.visibility).toBe('board')
    const changes: any[] = await read(bob, `/boards/${board.id}/changes?limit=100&after=${changes_cursor}`)
    const changed = changes.filter(({ kind }) => kind === 'attachment')
    expect(changed.map(({ id, action, actor_id }) => `${action} ${id} ${actor_id}`).toSorted()).toEqual(
      files.flatMap(({ attachments }) => attachments.map((id) => `updated ${id} null`)).toSorted(),
    )
    // Who comes back does not get them back.
    await service.rejoin(dan)
    expect(await read(bob, `/files/${files[0]!.fileId}`)).toMatchObject({ visibility: 'board', owner_id: dan.id })
  })
})
