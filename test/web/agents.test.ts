import { expect, test } from 'vitest'
import { HOUR } from '../../src/model/time.ts'
import { startAgent } from '../support/agent.ts'
import { buildTeam, startForSuite } from '../support/board-team.ts'
import { decoded, signedIn, textOf, type Visitor } from '../support/visitor.ts'

// The page of the agents of a workspace. The owner's agent works on a board that all members see, and on a private one.
const service = await startForSuite()
const team = await buildTeam(service, ['To do', 'Doing'])
const { api, base, boardId, columns, owner, visitor } = team
const hidden = (await api('POST', '/boards', { name: 'Secret' })).id
await api('PUT', `/boards/${hidden}/visibility`, { visibility: 'private' })
const hiddenColumn = (await api('POST', `/boards/${hidden}/columns`, { name: 'Doing' })).id
const mira = await service.person(owner.workspaceId, 'member', 'Mira Patel')
const member = await signedIn(service, mira)
const agent = startAgent(service, owner)
const create = async (title: string, board = boardId, column_id = columns[0]): Promise<string> =>
  (await api('POST', `/boards/${board}/cards`, { column_id, title })).id

const page = async (from: Visitor) => (await from.request(`${base}/agents`)).text
/** The rows of the table, as text: one for each token. */
const rowsOf = (html: string) => [...html.matchAll(/<tr id="tok_[^]*?<\/tr>/g)].map(([row]) => textOf(row))

test('shows on which card an agent works, what it has failed, asks and is stuck with, and lets a person answer and retry there', async () => {
  const [taken, failed, asked] = [await create('Sow'), await create('Weed'), await create('Logo')]
  await api('PATCH', `/columns/${columns[1]}`, { max_attempts: 1 })
  const stuck = await create('Dig', boardId, columns[1])
  await agent.fail(failed, 'No tools', 3600)
  await agent.ask(asked, 'Blue or green?')
  await agent.fail(stuck, 'Stone', 0)
  await agent.claim(taken)
  service.now += 120_000
  const html = await page(visitor)
  expect(rowsOf(html)).toEqual([
    expect.stringMatching(
      /^test Olivia Stone Sow since 2 minutes ago Waits for an answer: Logo Failed 2 times .*2 minutes ago Revoke test of Olivia Stone$/,
    ),
  ])
  expect(textOf(html)).toMatch(/Open questions 1 Logo Spring test of Olivia Stone asked .* Blue or green\?/)
  expect(textOf(html)).toMatch(/Stuck cards 1 Dig Spring Stuck after 1 attempt Stone Retry Dig/)
  const [, form] = /(<form[^>]*do\/cards\.retry[^]*?<\/form>)/.exec(html)!
  const fields = Object.fromEntries([...form!.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name!, decoded(value!)]))
  const done = await visitor.post(`${base}/do/cards.retry`, fields)
  expect({ status: done.status, to: done.location?.split('?')[0] }).toEqual({ status: 303, to: `${base}/agents` })
  expect(await page(visitor)).not.toContain('Stuck cards')
})

test('shows nobody what happens on a board that they do not see, and calls and the way to revoke a token to its person and to owners', async () => {
  const secret = await create('Plot', hidden, hiddenColumn)
  await agent.claim(secret)
  await agent.ask(await create('Where?', hidden, hiddenColumn), 'In the shed?')
  await service.app.services.usage.flush()
  const [owners, members] = [await page(visitor), await page(member)]
  for (const text of ['Plot', 'In the shed?', 'Secret']) {
    expect(owners).toContain(text)
    expect(members).not.toContain(text)
  }
  expect(rowsOf(owners)[0]).toMatch(/ \d+ 2 minutes ago|Revoke/)
  expect(rowsOf(members)).toEqual([expect.stringMatching(/^test Olivia Stone Sow .* not shown .* ago$/)])
  expect(members).not.toContain('/revoke')
})

test('to revoke a token says what it holds, of what the person may see', async () => {
  const admin = await signedIn(service, await service.person(owner.workspaceId, 'admin', 'Ada Admin'))
  const [, path] = /href="([^"]+\/revoke)"/.exec(await page(admin))!
  expect(path).toContain('/settings/workspace/')
  const [own, others] = [await visitor.request(path!), await admin.request(path!)]
  expect(textOf(own.text)).toMatch(/It works on these cards\. They are free for others at once: .*Sow/)
  expect(textOf(others.text)).toMatch(/at once: .*Sow/)
  expect([own.text.includes('Plot'), others.text.includes('Plot')]).toEqual([true, false])
})

test('an agent that was not seen for a day is not there any more, unless it waits for an answer', async () => {
  service.now += 25 * HOUR
  const later = await signedIn(service, mira)
  expect(rowsOf(await page(later))).toEqual([expect.stringMatching(/^test Olivia Stone Waits for an answer: Logo not shown .* ago$/)])
})

test('a script that has the page gets it again when it shows something else, and not only because time has passed', async () => {
  const garden = await buildTeam(service)
  const worker = startAgent(service, garden.owner)
  const call = garden.api
  await call('PATCH', `/columns/${garden.columns[1]}`, { max_attempts: 1 })
  const add = async (title: string, column_id = garden.columns[0]): Promise<string> =>
    (await call('POST', `/boards/${garden.boardId}/cards`, { column_id, title })).id
  const [taken, asked, stuck] = [await add('Taken'), await add('Asked'), await add('Stuck', garden.columns[1])]
  const read = (version: string) =>
    garden.visitor.request(`${garden.base}/agents`, { headers: { accept: 'text/html', 'if-none-match': version } })
  let { headers } = await read('')
  const token = (await call('GET', '/account')).token.id
  const changes: readonly (readonly [string, () => unknown, number])[] = [
    ['nothing', () => {}, 304],
    ['a minute passes', () => (service.now += 60_000), 304],
    ['a card is claimed', () => worker.claim(taken), 200],
    ['a minute passes again', () => (service.now += 60_000), 304],
    ['a claim runs out', () => (service.now += 300_000), 200],
    ['an agent asks', () => worker.ask(asked, 'Blue?'), 200],
    ['somebody answers', () => call('POST', `/cards/${asked}/answer`, { body: 'Green.' }), 200],
    ['a card is stuck', () => worker.fail(stuck, 'Stone', 0), 200],
    ['somebody retries it', () => call('POST', `/cards/${stuck}/retry`), 200],
    [
      'a token is revoked',
      () => garden.visitor.open(`/settings/tokens/${garden.owner.workspaceId}/${token}/revoke`).then(() => garden.visitor.submit()),
      200,
    ],
  ]
  for (const [what, change, status] of changes) {
    await change()
    const reply = await read(headers.get('etag')!)
    expect([what, reply.status, reply.text === '']).toEqual([what, status, status === 304])
    ;({ headers } = reply)
  }
  expect(rowsOf((await read('')).text)).toEqual([expect.stringMatching(/^test Olivia Stone .* Revoked or expired$/)])
  // Another session has other forms.
  const again = await signedIn(service, garden.owner)
  expect(
    (await again.request(`${garden.base}/agents`, { headers: { accept: 'text/html', 'if-none-match': headers.get('etag')! } })).status,
  ).toBe(200)
})

test('a workspace of others has no such page', async () => {
  const other = await buildTeam(service)
  expect((await (await signedIn(service, mira)).request(`${other.base}/agents`)).status).toBe(404)
})

test('the list of boards has the last change first, and counts what waits, is stuck, overdue and claimed', async () => {
  const { api: call, base: at, boardId: spring, columns: lists, owner: person } = await buildTeam(service)
  const worker = startAgent(service, person)
  const older = (await call('POST', '/boards', { name: 'Older' })).id
  const add = async (title: string, more: object = {}): Promise<string> =>
    (await call('POST', `/boards/${spring}/cards`, { column_id: lists[0], title, ...more })).id
  await worker.claim(await add('Taken', { due_at: new Date(service.now - HOUR).toISOString() }))
  await worker.ask(await add('Asks'), 'What?')
  await call('PATCH', `/columns/${lists[1]}`, { max_attempts: 1 })
  await worker.fail(await add('Stuck', { column_id: lists[1] }), 'Stone', 0)
  // An attempt that is under way, and would be the last one.
  await worker.claim(await add('Last', { column_id: lists[1] }))
  await call('PUT', `/cards/${await add('Done', { due_at: new Date(service.now - HOUR).toISOString() })}/completion`, { completed: true })
  const tiles = async () => {
    const { text } = await (await signedIn(service, person)).request('/app')
    return [...text.matchAll(/<a class="board-link" href="[^"]*\/(\w+)"[^]*?<\/a>/g)].map(([html, id]) => [id, textOf(html)])
  }
  expect(at).toContain(person.workspaceId)
  service.now += 1000
  await add('Fresh')
  const first = await tiles()
  expect(first.map(([id]) => id)).toEqual([spring, older])
  expect(first.map(([, text]) => text)).toEqual([
    expect.stringContaining('Spring 1 waiting 1 stuck 1 overdue 2 claimed'),
    expect.not.stringMatching(/waiting|stuck|overdue|claimed/),
  ])
  service.now += 1000
  await call('PATCH', `/boards/${older}`, { description: 'New' })
  expect((await tiles()).map(([id]) => id)).toEqual([older, spring])
})
