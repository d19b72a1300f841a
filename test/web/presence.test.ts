import { expect, test } from 'vitest'
import { Presence } from '../../src/web/presence.ts'
import { entriesOf, startWithAudit } from '../support/audit-trail.ts'
import { buildTeam, startForSuite } from '../support/board-team.ts'
import { EventReader } from '../support/event-reader.ts'
import { attacks } from '../support/form-attacks.ts'
import { memory } from '../support/memory.ts'
import type { Person } from '../support/service.ts'
import { signedIn } from '../support/visitor.ts'

const service = await startForSuite()
const { owner, api, base, boardId, columns } = await buildTeam(service)
const { id: card } = await api('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title: 'Plan' })
const join = (name: string) => service.person(owner.workspaceId, 'member', name)

/** The stream of the board, as it is for a person. @returns who else edits what, by its events */
async function watch(person: Person) {
  const { cookie } = await signedIn(service, person)
  const request = new Request(`http://localhost${base}/events?board=${boardId}`, { headers: { cookie } })
  const events = new EventReader(await service.app.fetch(request))
  const next = async () => ((await events.take(1)) as [any])[0].data.update.editors
  return { next, close: () => events.close() }
}
/** @returns tells what the person edits */
async function editorOf(person: Person) {
  const visitor = await signedIn(service, person)
  await visitor.open(`${base}/boards/${boardId}`)
  return (fields: Record<string, string>, of = card) =>
    visitor.post(`${base}/cards/${of}/editing`, { form_token: visitor.formToken, ...fields })
}

test('the others on a board learn who edits what, until it ends or is not told any more', async () => {
  const [mira, ben] = [await join('Mira Patel'), await join('Ben Carter')]
  const [byMira, byBen] = [await editorOf(mira), await editorOf(ben)]
  const [ofOwner, ofMira] = [await watch(owner), await watch(mira)]
  expect([await ofOwner.next(), await ofMira.next()]).toEqual([[], []])
  expect((await byMira({ part: 'description' })).status).toBe(200)
  const editing = { card, part: 'description', name: 'Mira Patel' }
  expect(await ofOwner.next()).toEqual([editing])
  await byBen({ part: 'title' })
  expect(await ofOwner.next()).toEqual([editing, { card, part: 'title', name: 'Ben Carter' }])
  // Nobody is told of themselves.
  expect(await ofMira.next()).toEqual([{ card, part: 'title', name: 'Ben Carter' }])
  await byBen({ part: 'title', ended: '' })
  expect([await ofOwner.next(), await ofMira.next()]).toEqual([[editing], []])
  service.now += 40_000
  expect(await ofOwner.next()).toEqual([])
  await Promise.all([ofOwner.close(), ofMira.close()])
})

test('nobody tells of a card that they may not read, or with a form of another site', async () => {
  const closed = (await api('POST', '/boards', { name: 'Closed' })).id
  const column_id = (await api('POST', `/boards/${closed}/columns`, { name: 'Doing' })).id
  const hidden = await api('POST', `/boards/${closed}/cards`, { column_id, title: 'Hidden' })
  await api('PUT', `/boards/${closed}/visibility`, { visibility: 'private' })
  const noa = await signedIn(service, await join('Noa Weiss'))
  await noa.open(`${base}/boards/${boardId}`)
  const by = (fields: Record<string, string>, of = card) =>
    noa.post(`${base}/cards/${of}/editing`, { form_token: noa.formToken, ...fields })
  const genuine = { visitor: noa, path: `${base}/cards/${card}/editing`, fields: { form_token: noa.formToken, part: 'title' } }
  const stranger = await signedIn(service, await join('Stranger'))
  await stranger.open(`${base}/boards/${boardId}`)
  for (const [name, attack] of Object.entries(attacks)) {
    const { path = genuine.path, fields = genuine.fields, options } = attack(genuine, stranger.formToken)
    const { status } = await noa.post(path, fields, options)
    expect({ name, status }).toEqual({ name, status: name.startsWith('as text/plain') ? 415 : 403 })
  }
  expect((await by({ part: 'title' }, hidden.id)).status).toBe(404)
  await by({ part: 'due_at' })
  const events = await watch(owner)
  expect(await events.next()).toEqual([])
  await events.close()
})

test('the memory of it is bounded, and what has ended is forgotten', () => {
  const presence = new Presence()
  for (let i = 0; i < 300; i++) presence.note('brd_1', { card: `crd_${i}`, part: 'title', userId: 'usr_1', until: 50 }, 0)
  expect(presence.on('brd_1', 0)).toHaveLength(100)
  expect(presence.on('brd_1', 50)).toEqual([])
  for (let i = 0; i < 1100; i++) presence.note(`brd_${i + 2}`, { card: 'crd_1', part: 'title', userId: 'usr_1', until: 50 }, 0)
  expect(presence.on('brd_1', 0)).toEqual([])
})

test('it has no entry in the audit trail', async () => {
  const audited = await startWithAudit(memory)
  const team = await buildTeam(audited.service)
  const { id } = await team.api('POST', `/boards/${team.boardId}/cards`, { column_id: team.columns[0], title: 'Plan' })
  await team.visitor.open(`${team.base}/boards/${team.boardId}`)
  const fields = { form_token: team.visitor.formToken, part: 'title' }
  const tell = () => team.visitor.post(`${team.base}/cards/${id}/editing`, fields)
  expect(await entriesOf(audited.service, audited.recorder, team.owner.workspaceId, tell)).toEqual([])
  await audited.service.stop()
})
