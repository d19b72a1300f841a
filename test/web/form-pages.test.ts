import { expect, test } from 'vitest'
import { buildTeam, startForSuite } from '../support/board-team.ts'
import { textOf, Visitor } from '../support/visitor.ts'

// What all pages have in common that are one form.
const service = await startForSuite()
const { api, base, boardId, columns, owner, visitor } = await buildTeam(service)
const card: string = (await api('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title: 'Sow' })).id
const label: string = (await api('POST', `/boards/${boardId}/labels`, { name: 'urgent', color: '#112233' })).id
const workspace = `/settings/workspace/${owner.workspaceId}`
const mira = await service.person(owner.workspaceId, 'member', 'Mira Patel')

const buttonOn = (text: string) => textOf(/<button class="primary[^"]*">(.*?)<\/button>/.exec(text)?.[1] ?? '')
/** The names of the fields that have the focus. */
const focusedOn = (text: string) =>
  [...text.matchAll(/<(?:input|textarea|select)\b[^>]*>/g)].flatMap(([tag]) =>
    /\sautofocus(?=[\s/>=])/.test(tag) ? [/\sname="([^"]*)"/.exec(tag)![1]!] : [],
  )

test.each([
  [`${base}/do/cards.update?card_id=${card}`, 'Save', 'title'],
  [`${base}/do/boards.update?board_id=${boardId}`, 'Save', 'name'],
  [`${base}/do/boards.set_visibility?board_id=${boardId}`, 'Save', 'visibility'],
  [`${base}/do/columns.rename?column_id=${columns[0]}`, 'Save', 'name'],
  [`${base}/do/labels.update?label_id=${label}`, 'Save', 'name'],
  [`${base}/do/boards.create`, 'Create board', 'name'],
  [`${base}/do/cards.create?board_id=${boardId}`, 'Create card', 'column_id'],
  [`${base}/do/cards.move?card_id=${card}`, 'Move card', 'column_id'],
  [`${base}/do/cards.delete?card_id=${card}`, 'Delete card', 'confirmed'],
  [`${base}/do/webhooks.create?board_id=${boardId}`, 'Create webhook', 'url'],
  ['/settings/account/mails', 'Save', 'assigned'],
  [`/settings/tokens/new?workspace=${owner.workspaceId}`, 'Continue', 'name'],
  [`${workspace}/members/invite`, 'Invite', 'name'],
  [`${workspace}/members/${mira.id}/role`, 'Save', 'role'],
])('%s has the button “%s”, and the focus in its first field', async (path, button, field) => {
  const { text, status } = await visitor.open(path)
  expect([status, buttonOn(text), focusedOn(text)]).toEqual([200, button, [field]])
  // Words of the API are no words of a page.
  expect(textOf(text)).not.toContain('`')
})

test('the sign-in has the focus in its first field', async () => {
  expect(focusedOn((await new Visitor(service).open('/settings/sign-in')).text)).toEqual(['email'])
})

test('a form that is refused has the focus in the first field that is wrong', async () => {
  const action = `${base}/do/columns.create`
  await visitor.open(`${action}?board_id=${boardId}`)
  const { text, status } = await visitor.submit({ name: 'Later', wip_limit: '-1' }, action)
  expect([status, focusedOn(text)]).toEqual([422, ['wip_limit']])
  // The templates of pages use their constant parts again.
  expect(focusedOn((await visitor.open(`${action}?board_id=${boardId}`)).text)).toEqual(['name'])
})

test('the visibility of a board is chosen in words', async () => {
  const { text } = await visitor.open(`${base}/do/boards.set_visibility?board_id=${boardId}`)
  expect(textOf(text)).toContain(
    'Visibility With “Private”, only the creator of the board and its members have access. Workspace Private Save',
  )
})
