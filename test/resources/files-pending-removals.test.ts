import { beforeEach, describe, expect, test } from 'vitest'
import { endMembership } from '../../src/admin/memberships.ts'
import { keys } from '../../src/store/keys.ts'
import { setUpBoard } from '../support/board.ts'
import { betweenSteps } from '../support/collections.ts'
import { drivers } from '../support/drivers.ts'
import type { Person } from '../support/service.ts'
import { forbidden, notFound } from './refusals.ts'

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

  const send = (person: Person, method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    setup.service.send(person.write, method, path, body, headers)
  /** A file of Dan that is attached to each card. */
  const upload = async (visibility: string) => {
    const first = (await setup.board.attach(cards[0]!, { visibility, token: dan.write })).body.data
    const rest = cards.slice(1).map((id) => send(dan, 'POST', `/cards/${id}/attachments`, { file_id: first.file_id }))
    return {
      fileId: first.file_id as string,
      attachments: [first.id, ...(await Promise.all(rest)).map(({ body }) => body.data.id)] as string[],
    }
  }
  const cursor = async () => (await send(setup.ann, 'GET', `/boards/${setup.board.id}?include=labels`)).body.data.changes_cursor as string
  const changesAfter = async (after: string) =>
    (await setup.board.get(`/boards/${setup.board.id}/changes?limit=100&after=${after}`)).body.data as any[]
  const always = (assertions: () => Promise<void>) => betweenSteps(setup.service, setup.workspaceId, assertions)

  test('a private file of a former member is accessible on its board from the end of the membership on, for good', async () => {
    const { service, workspaceId, bob, cyd, board } = setup
    const files = [await upload('private'), await upload('private')]
    const [shared, own] = [await upload('workspace'), await upload('board')]
    const before = await Promise.all(files.map(({ attachments }) => board.get(`/attachments/${attachments[2]}`)))
    const start = await cursor()
    await endMembership(service.deps, workspaceId, dan.id)
    const steps = await always(async () => {
      for (const [i, { fileId, attachments }] of files.entries()) {
        const found = await send(bob, 'GET', `/files/${fileId}`)
        expect([found.status, found.body.data.visibility]).toEqual([200, 'board'])
        for (const id of attachments) expect((await board.get(`/attachments/${id}`)).body.data.visibility).toBe('board')
        for (const id of cards)
          for (const { visibility, file_id } of await board.all(`/cards/${id}/attachments`))
            if (file_id === fileId) expect(visibility).toBe('board')
        const stale = { 'if-none-match': before[i]!.headers.get('etag')! }
        expect((await board.send('GET', `/attachments/${attachments[2]}`, undefined, stale)).status).toBe(200)
      }
      expect((await send(cyd, 'GET', `/files/${shared.fileId}`)).body.data.visibility).toBe('workspace')
      expect((await send(cyd, 'GET', `/files/${own.fileId}`)).body.data.visibility).toBe('board')
    })
    expect(steps).toBeGreaterThan(2 * CARDS)
    for (const { fileId } of files) expect((await service.write(workspaceId, (tx) => tx.get(keys.file(fileId))))!.visibility).toBe('board')
    const changed = (await changesAfter(start)).filter(({ kind }) => kind === 'attachment')
    expect(changed.map(({ id, action, actor_id }) => `${action} ${id} ${actor_id}`).toSorted()).toEqual(
      files.flatMap(({ attachments }) => attachments.map((id) => `updated ${id} null`)).toSorted(),
    )
    // Who comes back does not get them back.
    await service.rejoin(dan)
    expect((await send(bob, 'GET', `/files/${files[0]!.fileId}`)).body.data).toMatchObject({ visibility: 'board', owner_id: dan.id })
  })

  test('who comes back before the change is finished does not get private files back', async () => {
    const { service, workspaceId, bob } = setup
    const { fileId } = await upload('private')
    await endMembership(service.deps, workspaceId, dan.id)
    await service.rejoin(dan)
    await always(async () => {
      expect((await send(bob, 'GET', `/files/${fileId}`)).body.data).toMatchObject({ visibility: 'board', owner_id: dan.id })
    })
  })

  test('a private file of a former member whose home board is private stays hidden from others', async () => {
    const { service, workspaceId, bob, board } = setup
    await board.add(dan)
    await board.makePrivate()
    const { fileId, attachments } = await upload('private')
    await endMembership(service.deps, workspaceId, dan.id)
    await always(async () => {
      expect(await send(bob, 'GET', `/files/${fileId}`)).toMatchObject(notFound)
      expect((await send(setup.ann, 'GET', `/files/${fileId}`)).status).toBe(200)
    })
    expect((await board.send('DELETE', `/attachments/${attachments[0]}`)).status).toBe(200)
  })

  test('a change of the visibility holds for all attachments at once, and reaches the feed once for each', async () => {
    const { bob, board } = setup
    const { fileId, attachments } = await upload('workspace')
    const start = await cursor()
    const before = await Promise.all(attachments.map(async (id) => (await board.get(`/attachments/${id}`)).headers.get('etag')!))
    expect((await send(dan, 'PATCH', `/files/${fileId}`, { visibility: 'private' })).status).toBe(200)
    const steps = await always(async () => {
      for (const [i, id] of attachments.entries()) {
        const found = await board.send('GET', `/attachments/${id}`, undefined, { 'if-none-match': before[i]! })
        expect([found.status, found.body.data?.visibility]).toEqual([200, 'private'])
        const detach = await send(bob, 'DELETE', `/attachments/${id}`)
        expect(detach).toMatchObject(forbidden('P15'))
      }
    })
    expect(steps).toBeGreaterThan(CARDS - 1)
    const changed = await changesAfter(start)
    expect(changed.map(({ id }) => id).toSorted()).toEqual(attachments.toSorted())
  })
})
