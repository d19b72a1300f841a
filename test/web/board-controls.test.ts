import { describe, expect, test } from 'vitest'
import { buildTeam, startForSuite } from '../support/board-team.ts'
import { load } from '../support/policy.ts'
import { readersOnly } from '../support/readers-only.ts'
import type { Service } from '../support/service.ts'
import { formOf, signedIn } from '../support/visitor.ts'

/** A board of an owner with two columns and a card. */
async function buildBoard(service: Service) {
  const team = await buildTeam(service, ['To do', 'Done'])
  const [todo, done] = team.columns as [string, string]
  await team.api('POST', `/boards/${team.boardId}/cards`, { column_id: todo, title: 'Notes' })
  return { ...team, todo, done, path: `${team.base}/boards/${team.boardId}` }
}

/** The controls of a board page, by what their forms and links do. */
function controlsOn(html: string): string[] {
  const operations = [...html.matchAll(/\/do\/([\w.]+)/g)].map(([, operation]) => operation!)
  const tiles = (/ data-may="([^"]*)"/.exec(html)?.[1] ?? '').split(' ').filter(Boolean)
  const links = ['members', 'labels', 'webhooks', 'archive'].filter((page) => new RegExp(`href="[^"]*/boards/\\w+/${page}"`).test(html))
  return [...new Set([...operations, ...tiles, ...links])].toSorted()
}

describe('the controls of a board', async () => {
  const service = await startForSuite()
  const made = await buildBoard(service)
  const { visitor } = made
  const open = async () => (await visitor.open(made.path)).shown
  /** Submits the form in the element with an id. */
  const submitIn = async (id: string, fields: Record<string, string>) => {
    const part = visitor.page!.text.split(`id="${id}"`)[1]!.split('</details>')[0]!
    const { action, hidden } = formOf(part)
    const { location } = await visitor.post(action, { ...hidden, ...fields })
    return (await visitor.open(location!)).shown
  }

  // The rows P4, P5, P7, P8, P9 and P11 of the specification: visibility is for the creator, deletion for the creator, owners and admins.
  const EVERYBODY =
    'archive boards.update cards.apply_label cards.archive cards.assign cards.complete cards.create cards.move cards.update columns.archive columns.create columns.move columns.rename labels members webhooks'.split(
      ' ',
    )
  test.each([
    ['owner', ['boards.delete']],
    ['admin', ['boards.delete']],
    ['member', []],
    ['creator', ['boards.delete', 'boards.set_visibility']],
  ] as const)('are what the permission table allows: %s', async (role, more) => {
    const person = role === 'creator' ? made.owner : await service.person(made.owner.workspaceId, role, 'Mira Patel')
    const page = await (await signedIn(service, person)).open(made.path)
    expect({ status: page.status, controls: controlsOn(page.text) }).toEqual({ status: 200, controls: [...EVERYBODY, ...more].toSorted() })
  })

  test('add a card, and say when a column has more than its limit', async () => {
    await open()
    expect(await submitIn(`${made.todo}-add`, { title: 'Poster <b>' })).toContain('Poster <b>')
    await made.api('PATCH', `/columns/${made.todo}`, { wip_limit: 1 })
    expect(await open()).toMatch(/To do 2 cards · limit 1, which is exceeded/)
    expect(visitor.page!.text).toContain('class="count over"')
  })

  test('rename a column and change its limit, and leave out what is as it was', async () => {
    await open()
    const menu = `${made.done}-menu`
    expect(await submitIn(menu, { name: 'Finished', wip_limit: '' })).toContain('Finished 0 cards')
    await made.api('PATCH', `/columns/${made.done}`, { name: 'Ready' })
    // The form still has the name from before.
    expect(await submitIn(menu, { name: 'Finished', wip_limit: '7' })).toContain('Ready 0 cards · limit 7')
    expect(await submitIn(menu, { name: 'Ready', wip_limit: '' })).not.toContain('limit 7')
  })

  test('add a column, and lead to the forms of the others, which lead back', async () => {
    await open()
    expect(await submitIn('add-column', { name: 'Later' })).toContain('Later 0 cards')
    const [, href] = /href="([^"]*do\/columns\.archive[^"]*)"/.exec(visitor.page!.text)!
    await visitor.open(href!.replaceAll('&amp;', '&'))
    const page = await visitor.submit({}, `${made.base}/do`)
    expect({ status: page.status, shown: page.shown }).toEqual({
      status: 200,
      shown: expect.stringContaining('The column is archived. Undo'),
    })
  })
})

describe('with a policy that lets others only read a board', async () => {
  const service = await startForSuite({ engine: load(readersOnly()) })

  test('its creator is offered everything, and others only the people and labels of its cards, also by keys', async () => {
    const { owner, path } = await buildBoard(service)
    const reader = await service.person(owner.workspaceId, 'member', 'Ben Carter')
    const [own, other] = await Promise.all([owner, reader].map(async (person) => (await signedIn(service, person)).open(path)))
    expect(controlsOn(own!.text)).toContain('cards.create')
    expect({ status: other!.status, controls: controlsOn(other!.text) }).toEqual({
      status: 200,
      controls: ['archive', 'cards.apply_label', 'cards.assign', 'members', 'webhooks'],
    })
    expect(other!.text).toContain('Assign the card')
    expect(other!.text).not.toMatch(/Add card|Add column|picked up|Pick up|(?:Add a|Edit the|Complete the) card|Undo/)
  })
})
