import { beforeEach, expect, test } from 'vitest'
import { startAgent } from '../support/agent.ts'
import { buildTeam, startForSuite } from '../support/board-team.ts'
import { GIF } from '../support/pictures.ts'
import { formOf } from '../support/visitor.ts'

// A form is sent twice if its answer is lost, or by a second click. What it changes is there already: nobody has to merge it.
const service = await startForSuite()
const { owner, visitor, api, base, boardId, columns } = await buildTeam(service)
const mira = await service.person(owner.workspaceId, 'member', 'Mira Patel')
const agent = startAgent(service, owner)
const PLAN = 'Sow the beans in May.\nWater them every day.'
const [WEED, JUNE] = [`${PLAN}\nWeed.`, PLAN.replace('May', 'June')]
let cardId: string
beforeEach(async () => {
  cardId = (await api('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title: 'Sow', description: PLAN })).id
})
const card = () => api('GET', `/cards/${cardId}`)
const changes = async () => (await api('GET', `/boards/${boardId}/changes?limit=100&order=desc`)).length

/** Opens a form. @returns what sends it */
async function form(operation: string, fields: Record<string, string>, parameter = 'card_id', id = cardId) {
  const { text } = await visitor.open(`${base}/do/${operation}?${parameter}=${id}`)
  const { action, hidden } = formOf(text, `${base}/do/${operation}`)
  const sent = { ...hidden, ...fields }
  return async (headers = {}) =>
    visitor.post(action, sent, { headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers } })
}

test.each<[title: string, fields: Record<string, string>, theirs: object]>([
  ['is there', { title: 'Sow', description: WEED }, {}],
  ['is there in another form', { title: ' Sow ', description: WEED.replaceAll('\n', '\r\n') }, {}],
  ['is there with more of somebody else', { title: 'Sow', description: WEED }, { description: WEED.replace('May', 'June') }],
  ['is there, and another member is not as it was', { title: 'Sow', description: WEED }, { title: 'By Mira' }],
])('a change that %s is no conflict, and is not written again', async (_title, fields, theirs) => {
  const send = await form('cards.update', fields)
  expect((await send()).status).toBe(303)
  if (Object.keys(theirs).length > 0) await api('PATCH', `/cards/${cardId}`, theirs, mira)
  const saved = await card()
  // Nothing is taken from whoever has claimed it since.
  await agent.claim(cardId)
  const before = await changes()
  const answers = [await send(), await send({ accept: 'application/json' })]
  expect({ statuses: answers.map(({ status }) => status), card: await card(), changes: await changes() }).toEqual({
    statuses: [303, 200],
    card: saved,
    changes: before,
  })
})

test.each<[title: string, theirs: object]>([
  ['lacks what was sent', { description: JUNE.replace('Water', 'Shower') }],
  ['has what was sent in one member only', { title: 'Reap', description: 'Other' }],
])('a text that %s is a conflict', async (_title, theirs) => {
  const send = await form('cards.update', { title: 'Reap', description: WEED })
  await api('PATCH', `/cards/${cardId}`, theirs, mira)
  expect((await send()).status).toBe(412)
  expect(await card()).toMatchObject(theirs)
})

test.each([
  ['cards.update', { title: 'Twice' }],
  ['cards.set_cover', { attachment_id: '' }],
  ['cards.assign', { user_id: mira.id }],
  ['boards.set_visibility', { visibility: 'workspace' }],
  ['boards.update', { cover_color: '#AABBCC' }],
  ['columns.rename', { name: 'Twice' }],
])('%s is no conflict with itself, one after another and at once', async (operation, fields) => {
  if (operation === 'boards.set_visibility') await api('PUT', `/boards/${boardId}/visibility`, { visibility: 'private' })
  if ('attachment_id' in fields) fields.attachment_id = await attach()
  const [kind] = operation.split('s.')
  const id = { card: cardId, board: boardId, column: columns[0] }[kind!]!
  const send = await form(operation, fields as Record<string, string>, `${kind}_id`, id)
  const atOnce = await Promise.all([send(), send(), send()])
  expect([...atOnce, await send()].map(({ status }) => status)).toEqual([303, 303, 303, 303])
})

test.each([
  ['cards.update', { title: 'Sow', description: PLAN }],
  ['boards.set_visibility', { visibility: 'workspace' }],
])('%s that changes nothing is done', async (operation, fields) => {
  const send = await form(operation, fields, ...(operation === 'cards.update' ? [] : (['board_id', boardId] as const)))
  const before = await changes()
  expect([(await send()).status, await changes()]).toEqual([303, before])
})

async function attach(): Promise<string> {
  const content = new FormData()
  content.set('file', new File([GIF], 'a.gif', { type: 'image/gif' }))
  return (await service.upload(owner.admin, `/cards/${cardId}/files`, content)).body.data.id
}
