import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { SecretKeys } from '../../src/auth/secret-keys.ts'
import type { WebhookProgress } from '../../src/model/webhook.ts'
import { GLOBAL, keys, type Key } from '../../src/store/keys.ts'
import { answerText, kindsText } from '../../src/web/webhooks/words.ts'
import { sign } from '../../src/webhooks/signature.ts'
import type { send } from '../../src/webhooks/send.ts'
import { buildTeam, startForSuite } from '../support/board-team.ts'
import { load } from '../support/policy.ts'
import { readersOnly } from '../support/readers-only.ts'
import type { Person, Service } from '../support/service.ts'
import { decoded, formOf, alertsOf, PASSWORD, signedIn, textOf, type ReceivedPage, type Visitor } from '../support/visitor.ts'

type Sent = Parameters<typeof send>[0]
type Answered = Awaited<ReturnType<typeof send>>

test.each([
  [null, 'all changes'],
  [['card'], 'changes of the kind card'],
  [['board_member', 'work'], 'changes of the kinds board member and work'],
] as const)('the kinds %j are %s', (kinds, text) => {
  expect(kindsText(kinds)).toBe(text)
})

test.each([
  [{ status: 204, duration_ms: 3, error: null }, 'The receiver answered 204 after 3 ms.'],
  [{ status: 500, duration_ms: 1234, error: null }, 'The receiver answered 500 after 1,234 ms.'],
  [{ status: null, duration_ms: 10_000, error: 'timed out' }, 'No answer after 10,000 ms: timed out.'],
])('%j is told as: %s', (delivery, text) => {
  expect(answerText(delivery)).toBe(text)
})

/** A service with receivers that do what a test says, and a board of an owner. A member is the creator of its webhooks. */
async function buildWorld(options = {}) {
  const receiver = { answer: { status: 204 } as Answered, sent: [] as Sent[] }
  const sendDelivery: typeof send = async (delivery) => (receiver.sent.push(delivery), receiver.answer)
  const service = await startForSuite({ sendDelivery, ...options })
  const team = await buildTeam(service)
  const creator = await service.person(team.owner.workspaceId, 'member', 'Mira Patel')
  const visitor = await signedIn(service, creator)
  const path = `${team.base}/boards/${team.boardId}/webhooks`
  const create = async (members: object = {}, person: Person = creator): Promise<string> =>
    (await team.api('POST', `/boards/${team.boardId}/webhooks`, { url: 'https://hooks.example/kanban', ...members }, person)).id
  const pathOf = (id: string) => `${team.base}/webhooks/${id}`
  const list = async (): Promise<any[]> => team.api('GET', `/boards/${team.boardId}/webhooks`)
  const form = async (operation: string, fields: Record<string, string>) =>
    visitor.open(`${team.base}/do/${operation}?${new URLSearchParams({ ...fields, back: path })}`)
  const clear = async () => {
    for (const { id, creator_id } of await list())
      await team.api('DELETE', `/webhooks/${id}`, undefined, creator_id === creator.id ? creator : team.owner)
    Object.assign(receiver, { answer: { status: 204 }, sent: [] })
  }
  return { ...team, service, receiver, creator, visitor, path, create, pathOf, list, form, clear }
}

const secretsOn = ({ text }: ReceivedPage): string[] => text.match(/whsec_[A-Za-z0-9+/=]{20,}/g) ?? []
const errorOf = ({ text }: ReceivedPage, name: string) =>
  textOf(new RegExp(`<p class="error" id="do-${name}-error">[^<]*`).exec(text)?.[0] ?? '')
const valueOf = ({ text }: ReceivedPage) => /<input type="url"[^>]* value="([^"]*)"/.exec(text)?.[1]
const chosenOn = ({ text }: ReceivedPage) => [...text.matchAll(/name="kinds" value="(\w+)" checked/g)].map(([, kind]) => kind)
/** The operations that a page offers. */
const offeredOn = ({ text }: ReceivedPage) => [...new Set([...text.matchAll(/\/do\/([\w.]+)/g)].map(([, one]) => one!))].toSorted()
/** The names of the controls, without what they are about. */
const buttonsOn = ({ text }: ReceivedPage) =>
  [...text.matchAll(/<(?:button|a) class(?:="(?:button[^"]*)?")?(?: href="[^"]*")?>(.*?)<\/(?:button|a)>/gs)]
    .map(([, content]) => textOf(content!.replace(/<span class="unseen">.*?<\/span>/s, '')))
    .filter((name) => name !== 'Copy')
/** The rows of the deliveries, without the time. */
const rowsOn = ({ text }: ReceivedPage) =>
  [...text.matchAll(/<tr><td><time datetime="([^"]+)"[^]*?<\/tr>/g)].map(([row, at]) => [at, textOf(row.replace(/<time[^]*?<\/time>/, ''))])
const messageOn = ({ text }: ReceivedPage) => /<p class="message (\w+)" role="status">([^<]*)/.exec(text)?.slice(1)

/** All records of a service. */
async function stored(service: Service, workspaceId: string): Promise<unknown> {
  const partitions = [GLOBAL, workspaceId].map(async (partition) => {
    const all = (await service.recordKeys(partition)) as Key<unknown>[]
    return service.write(partition, (tx) => tx.read(all as never))
  })
  return Promise.all(partitions)
}

describe('the secret of a webhook', async () => {
  const world = await buildWorld()
  const { service, visitor, base, boardId, path, create, pathOf, form, list, clear, receiver, owner } = world
  beforeEach(clear)

  /** Sends the form of the page. @returns the page with the secret, and what sends the same form again */
  const send = async (operation: string, fields: Record<string, string> = {}) => {
    const { action, hidden } = formOf(visitor.page!.text, `${base}/do/${operation}`)
    const again = () => visitor.post(action, { ...hidden, ...fields })
    return { page: await again(), again }
  }

  test.each(['webhooks.create', 'webhooks.rotate_secret'])(
    'is on the page that answers the form, and nowhere else: %s',
    async (operation) => {
      const isNew = operation === 'webhooks.create'
      await form(operation, isNew ? { board_id: boardId } : { webhook_id: await create() })
      const { page, again } = await send(operation, isNew ? { url: 'https://hooks.example/<b>?a&b', kinds: 'card' } : {})
      expect({
        status: page.status,
        location: page.location,
        cacheControl: page.headers.get('cache-control'),
        secrets: secretsOn(page).length,
      }).toEqual({ status: 200, location: null, cacheControl: 'no-store', secrets: 1 })
      expect(page.shown).toContain(isNew ? 'Webhook created: its secret' : 'Secret rotated: the new one')
      expect(page.text).not.toContain('<b>')
      const [secret] = secretsOn(page)
      // Sent twice, it does nothing twice, and the secret is not shown again.
      const second = await again()
      expect({ status: second.status, secrets: secretsOn(second), shown: second.shown }).toEqual({
        status: 409,
        secrets: [],
        shown: expect.stringContaining('The secret was shown before'),
      })
      const [webhook, ...more] = await list()
      expect(more).toEqual([])
      for (const one of [path, pathOf(webhook.id), `${base}/do/webhooks.update?webhook_id=${webhook.id}`])
        expect([one, secretsOn(await visitor.open(one))]).toEqual([one, []])
      const kept = JSON.stringify([await stored(service, owner.workspaceId), service.records, [...visitor.jar]])
      expect(kept).toContain(webhook.id)
      expect(kept).not.toContain(secret!.slice('whsec_'.length))
      // It is the one that signs.
      await visitor.open(pathOf(webhook.id))
      await visitor.submit({}, `${base}/do/webhooks.test`)
      const { headers, body } = receiver.sent.at(-1)!
      const [id, timestamp] = [headers['webhook-id']!, Number(headers['webhook-timestamp'])]
      const signatures = headers['webhook-signature']!.split(' ')
      expect(signatures.length).toBe(isNew ? 1 : 2)
      expect(signatures).toContain(sign({ secrets: [secret!], id, timestamp, body })['webhook-signature'])
    },
  )

  test('comes with receivers that have no secret in them, and the way to the webhook', async () => {
    await form('webhooks.create', { board_id: boardId })
    const { page } = await send('webhooks.create', { url: 'https://hooks.example/' })
    expect(page.shown).toMatch(/WEBHOOK_SECRET.* Deliveries follow Standard Webhooks\. .*TypeScript .*createHmac.* Python .*hmac\.digest/)
    const [{ id }] = await list()
    expect(page.text).toContain(`href="${pathOf(id)}">I have stored it</a>`)
  })

  test('is not made without a key of the service, and the form keeps what was typed', async () => {
    const other = await buildWorld({ secretKeys: new SecretKeys([]) })
    await other.form('webhooks.create', { board_id: other.boardId })
    const page = await other.visitor.submit({ url: 'https://hooks.example/typed', kinds: 'card' })
    expect({ status: page.status, shown: page.shown, url: valueOf(page) }).toEqual({
      status: 503,
      shown: expect.stringContaining('LANEKEEPER_SECRET_KEY'),
      url: 'https://hooks.example/typed',
    })
  })

  test('is rotated by its creator alone', async () => {
    const id = await create({}, owner)
    expect((await form('webhooks.rotate_secret', { webhook_id: id })).status).toBe(403)
    const answer = await visitor.post(`${base}/do/webhooks.rotate_secret`, { webhook_id: id, form_token: visitor.formToken })
    expect({ status: answer.status, secrets: secretsOn(answer) }).toEqual({ status: 403, secrets: [] })
  })
})

describe('a webhook, which outlives "sign out everywhere",', async () => {
  const world = await buildWorld()
  const { service, visitor, base, boardId, create, pathOf, form, list, clear } = world
  beforeEach(clear)
  const NEW = 'https://hooks.example/new'
  const FORMS: readonly (readonly [operation: string, fields: Record<string, string>])[] = [
    ['webhooks.create', { url: NEW }],
    ['webhooks.rotate_secret', {}],
    ['webhooks.update', { url: NEW }],
    ['webhooks.update', { enabled: 'true' }],
    ['webhooks.update', { enabled: 'false', url: NEW }],
    ['webhooks.update', { kinds: 'work' }],
  ]

  test.each(FORMS)('needs a recent proof, as a token with kanban:admin does: %s %j', async (operation, fields) => {
    const given: Record<string, string> =
      operation === 'webhooks.create' ? { board_id: boardId } : { webhook_id: await create({ kinds: ['card'] }) }
    const before = JSON.stringify(await list())
    await visitor.open('/settings/account')
    service.now += 9 * 60_000
    expect((await form(operation, given)).text).not.toContain('name="password"')
    service.now += 2 * 60_000
    const sent = { ...given, ...fields, form_token: visitor.formToken }
    for (const proof of [{}, { password: 'wrong' }, { passkey: '{}' }] as Record<string, string>[]) {
      const page = await visitor.post(`${base}/do/${operation}`, { ...sent, ...proof })
      expect({ status: page.status, secrets: secretsOn(page), text: page.text }).toEqual({
        status: 403,
        secrets: [],
        text: expect.stringContaining('name="password"'),
      })
    }
    const byScript = await visitor.post(`${base}/do/${operation}`, sent, { headers: { accept: 'application/json' } })
    expect({ status: byScript.status, error: JSON.parse(byScript.text).error }).toEqual({
      status: 403,
      error: 'Enter your password to continue.',
    })
    expect(JSON.stringify(await list())).toBe(before)
    // The form has the field, and with the password it is done.
    expect((await form(operation, given)).text).toContain('name="password"')
    const { action, hidden } = formOf(visitor.page!.text, `${base}/do/${operation}`)
    const done = await visitor.post(action, { ...hidden, ...fields, password: PASSWORD })
    expect({ isDone: [200, 303].includes(done.status), session: visitor.session }).toEqual({ isDone: true, session: expect.any(String) })
    expect((await visitor.open('/settings/account')).status).toBe(200)
    if (operation === 'webhooks.rotate_secret') expect(secretsOn(done).length).toBe(1)
    else expect(JSON.stringify(await list())).not.toBe(before)
  })

  test('can be disabled, tested and deleted without a proof', async () => {
    const id = await create()
    await visitor.open(pathOf(id))
    service.now += 11 * 60_000
    const form_token = visitor.formToken
    for (const [operation, fields] of [
      ['webhooks.update', { enabled: 'false' }],
      ['webhooks.test', {}],
      ['webhooks.delete', {}],
    ] as const)
      expect([operation, (await visitor.post(`${base}/do/${operation}`, { webhook_id: id, form_token, ...fields })).status]).toEqual([
        operation,
        303,
      ])
    expect(await list()).toEqual([])
  })
})

describe('the controls of webhooks', async () => {
  const world = await buildWorld()
  const { service, base, owner, creator, path, create, pathOf, api } = world
  const people: Record<string, Person> = {
    'its creator': creator,
    'an owner': owner,
    'an admin': await service.person(owner.workspaceId, 'admin', 'Adrian Cole'),
    'a member': await service.person(owner.workspaceId, 'member', 'Ben Carter'),
  }
  const visitors = new Map<string, Visitor>()
  for (const [name, person] of Object.entries(people)) visitors.set(name, await signedIn(service, person))
  const ON_WEBHOOK = ['webhooks.delete', 'webhooks.rotate_secret', 'webhooks.test', 'webhooks.update']

  // Row X12: only its creator changes it, and whoever may delete the board may delete it.
  test.each([
    ['its creator', ON_WEBHOOK],
    ['an owner', ['webhooks.delete']],
    ['an admin', ['webhooks.delete']],
    ['a member', []],
  ])('are what the permission table allows to %s, and nothing that is refused', async (name, allowed) => {
    const visitor = visitors.get(name)!
    const id = await create()
    const [all, one] = [await visitor.open(path), await visitor.open(pathOf(id))]
    expect({ status: all.status, offered: offeredOn(all) }).toEqual({ status: 200, offered: ['webhooks.create', ...allowed].toSorted() })
    expect({ status: one.status, offered: offeredOn(one) }).toEqual({ status: 200, offered: allowed })
    expect(all.shown).toContain('https://hooks.example/kanban Active By Mira Patel, all changes Last deliveries')
    const performed: string[] = []
    for (const operation of ['webhooks.test', 'webhooks.update', 'webhooks.rotate_secret', 'webhooks.delete']) {
      const fields = { webhook_id: id, form_token: visitor.formToken, ...(operation === 'webhooks.update' && { enabled: 'false' }) }
      const { status } = await visitor.post(`${base}/do/${operation}`, fields)
      if (status !== 403) performed.push(operation)
    }
    expect(performed.toSorted()).toEqual(allowed)
  })

  test('of several webhooks are kept apart', async () => {
    await world.clear()
    const own = await create({ url: 'https://hooks.example/own' })
    service.now += 1
    const other = await create({ url: 'https://hooks.example/other' }, owner)
    const page = await visitors.get('its creator')!.open(path)
    const items = page.text.match(/<li>.*?<\/li>/gs)!.filter((item) => item.includes('class="webhook"'))
    const links = items.map((item) => [...new Set(item.match(/whk_\w+/g))])
    expect(links).toEqual([[own], [other]])
    expect(items.map((item) => offeredOn({ text: item } as ReceivedPage))).toEqual([ON_WEBHOOK, []])
  })

  test('are on no page for people who may not see the board', async () => {
    const board = await api('POST', '/boards', { name: 'Private' })
    await api('PUT', `/boards/${board.id}/visibility`, { visibility: 'private' })
    const { id } = await api('POST', `/boards/${board.id}/webhooks`, { url: 'https://hooks.example/private' })
    const visitor = visitors.get('a member')!
    for (const one of [`${base}/boards/${board.id}/webhooks`, pathOf(id), `${base}/do/webhooks.create?board_id=${board.id}`])
      expect([one, (await visitor.request(one)).status]).toEqual([one, 404])
    const form_token = visitor.formToken
    expect((await visitor.post(`${base}/do/webhooks.test`, { webhook_id: id, form_token })).status).toBe(404)
  })

  test('are reached by the menu of the board, also by people who only read it', async () => {
    const reading = await buildWorld({ engine: load(readersOnly()) })
    const page = await reading.visitor.open(`${reading.base}/boards/${reading.boardId}`)
    expect(page.text).toContain(`<a href="${reading.path}">Webhooks</a>`)
  })
})

describe('the authorization header of a webhook', async () => {
  const world = await buildWorld()
  const { service, visitor, base, boardId, pathOf, form, list, receiver } = world

  test('is typed in the form, shown nowhere, and removed by a button without a proof', async () => {
    await form('webhooks.create', { board_id: boardId })
    expect(visitor.page!.text).toMatch(/<input type="password" name="authorization"[^>]* autocomplete="off"/)
    const refused = await visitor.submit({ url: 'http://hooks.example/', authorization: 'Bearer hunter2' }, `${base}/do/webhooks.create`)
    expect({ status: refused.status, text: refused.text }).toEqual({ status: 422, text: expect.not.stringContaining('hunter2') })
    await visitor.submit({ url: 'https://hooks.example/', authorization: 'Bearer hunter2' }, `${base}/do/webhooks.create`)
    const [{ id }] = await list()
    const page = await visitor.open(pathOf(id))
    expect({ shown: page.shown, text: page.text }).toEqual({
      shown: expect.stringContaining('with an authorization header'),
      text: expect.not.stringContaining('hunter2'),
    })
    await visitor.submit({}, `${base}/do/webhooks.test`)
    expect(receiver.sent.at(-1)!.headers['authorization']).toBe('Bearer hunter2')
    // Left empty, it stays as it is.
    await form('webhooks.update', { webhook_id: id })
    await visitor.submit({ url: 'https://hooks.example/other', authorization: '' }, `${base}/do/webhooks.update`)
    expect(await list()).toMatchObject([{ url: 'https://hooks.example/other', has_authorization: true }])
    service.now += 11 * 60_000
    const { text } = await visitor.open(pathOf(id))
    const button = [...text.matchAll(/<form.*?<\/form>/gs)].find(([one]) => textOf(one).startsWith('Remove authorization'))![0]
    const { action, hidden } = formOf(button)
    expect((await visitor.post(action, hidden)).status).toBe(303)
    expect(await list()).toMatchObject([{ has_authorization: false }])
    expect((await visitor.open(pathOf(id))).text).not.toContain('Remove authorization')
  })
})

describe('an error in the form of a webhook', async () => {
  const world = await buildWorld()
  const { visitor, base, boardId, create, list, clear, form } = world
  beforeEach(clear)
  const URLS: readonly (readonly [string, string, string])[] = [
    ['a private address', 'https://10.1.2.3/hook', 'has a host that is not a public name or address'],
    ['loopback', 'https://[::1]/hook', 'has a host that is not a public name or address'],
    ['a name of a private network', 'https://ci.internal/hook', 'has a host that is not a public name or address'],
    ['a user name and a password', 'https://mira:secret@hooks.example/', 'contains a user name or a password'],
    ['http', 'http://hooks.example/', 'does not begin with https://'],
    ['the port of another protocol', 'https://hooks.example:25/', 'has a port that is not for HTTP'],
    ['no URL', 'hooks', 'is not a URL like https://ci.example.com/hook'],
  ]

  test.each(URLS)('is shown beside its field, and what was typed is kept: %s', async (_title, url, error) => {
    await form('webhooks.create', { board_id: boardId })
    const { action, hidden } = formOf(visitor.page!.text, `${base}/do/webhooks.create`)
    const body = String(
      new URLSearchParams([...Object.entries({ ...hidden, url }), ['kinds', ''], ['kinds', 'card'], ['kinds', 'board_member']]),
    )
    const page = await visitor.post(action, {}, { body })
    expect({ status: page.status, error: errorOf(page, 'url'), url: valueOf(page), kinds: chosenOn(page) }).toEqual({
      status: 422,
      error,
      url,
      kinds: ['board_member', 'card'],
    })
    expect(page.shown).toContain(`Please check: URL ${error}.`)
    expect(page.text).toMatch(/<input type="url"[^>]* aria-describedby="do-url-hint do-url-error"[^>]* aria-invalid="true"/)
    expect(await list()).toEqual([])
    // Corrected, the form is sent.
    visitor.page = page
    const corrected = await visitor.submit({ url: 'https://hooks.example/', kinds: 'card' }, `${base}/do/webhooks.create`)
    expect({ status: corrected.status, webhooks: (await list()).map((one) => [one.url, one.kinds]) }).toEqual({
      status: 200,
      webhooks: [['https://hooks.example/', ['card']]],
    })
  })

  test('is shown when a webhook is edited, which stays as it was', async () => {
    const id = await create({ kinds: ['card'] })
    await form('webhooks.update', { webhook_id: id })
    const page = await visitor.submit({ url: 'https://10.1.2.3/', kinds: 'comment' }, `${base}/do/webhooks.update`)
    expect({ status: page.status, error: errorOf(page, 'url'), url: valueOf(page), kinds: chosenOn(page) }).toEqual({
      status: 422,
      error: 'has a host that is not a public name or address',
      url: 'https://10.1.2.3/',
      kinds: ['comment'],
    })
    expect(await list()).toMatchObject([{ url: 'https://hooks.example/kanban', kinds: ['card'] }])
  })

  test.each(['webhooks.create', 'webhooks.update'])('is an unknown kind: %s', async (operation) => {
    const fields: Record<string, string> = operation === 'webhooks.create' ? { board_id: boardId } : { webhook_id: await create() }
    await form(operation, fields)
    const page = await visitor.submit({ url: 'https://hooks.example/typed', kinds: 'cards' }, `${base}/do/${operation}`)
    expect({ status: page.status, hasError: errorOf(page, 'kinds') !== '', url: valueOf(page) }).toEqual({
      status: 422,
      hasError: true,
      url: 'https://hooks.example/typed',
    })
    expect(page.text).toMatch(/<fieldset class="field" aria-describedby="do-kinds-hint do-kinds-error"/)
  })

  test('is one webhook more than a board may have', async () => {
    for (let i = 0; i < 10; i++) await create({ url: `https://hooks.example/${i}` })
    await form('webhooks.create', { board_id: boardId })
    const page = await visitor.submit({ url: 'https://hooks.example/typed' }, `${base}/do/webhooks.create`)
    expect({ status: page.status, shown: page.shown, url: valueOf(page) }).toEqual({
      status: 409,
      shown: expect.stringContaining('A board has at most 10 webhooks.'),
      url: 'https://hooks.example/typed',
    })
  })
})

describe('the page of a webhook', async () => {
  const world = await buildWorld()
  const { service, visitor, base, boardId, path, create, pathOf, list, clear, form, receiver, owner, columns, api } = world
  beforeEach(clear)
  const progress = (id: string, changes: Partial<WebhookProgress>) =>
    service.write(owner.workspaceId, async (tx) =>
      tx.put(keys.webhookProgress(id), { ...(await tx.get(keys.webhookProgress(id)))!, ...changes }),
    )
  const since = '2026-11-20T10:30:00.000Z'

  test.each<[string, Partial<WebhookProgress>, string, string, string[]]>([
    ['active', {}, 'Active', 'Active', ['Disable']],
    [
      'failing',
      { state: 'failing', reason: 'The receiver answered 500.', failing_since: since },
      'Failing since 2026-11-20 10:30 UTC. The receiver answered 500. The delivery is tried again, for three days at most.',
      'Failing since 2026-11-20 10:30 UTC. The receiver answered 500. The delivery is tried again, for three days at most.',
      ['Try again now', 'Disable'],
    ],
    [
      'failing without an answer',
      { state: 'failing', reason: 'connection refused', failing_since: since },
      'Failing since 2026-11-20 10:30 UTC. Connection refused. The delivery is tried again, for three days at most.',
      'Failing since 2026-11-20 10:30 UTC. Connection refused. The delivery is tried again, for three days at most.',
      ['Try again now', 'Disable'],
    ],
    [
      'disabled after three days',
      { state: 'disabled', reason: 'It has failed for three days. timed out', failing_since: since },
      'Disabled It has failed for three days. Timed out.',
      'Disabled It has failed for three days. Timed out. Only its creator can enable it again.',
      ['Enable, go on where it stopped', 'Enable from now'],
    ],
    [
      'suspended',
      { state: 'suspended', reason: 'Its creator may not read the board any more.' },
      'Suspended Its creator may not read the board any more.',
      'Suspended Its creator may not read the board any more. Only its creator can enable it again.',
      ['Enable, go on where it stopped', 'Enable from now'],
    ],
  ])('says its state, why, and what can be done: %s', async (_title, changes, toCreator, toOthers, controls) => {
    const id = await create({ kinds: ['card', 'comment'] })
    await progress(id, changes)
    const about = 'By Mira Patel, changes of the kinds card and comment'
    for (const one of [path, pathOf(id)]) {
      const page = await visitor.open(one)
      expect(page.shown).toContain(`https://hooks.example/kanban ${toCreator} ${about}`)
      expect(buttonsOn(page).filter((name) => name !== 'Create webhook')).toEqual(['Test', ...controls, 'Edit', 'Rotate secret', 'Delete'])
    }
    const other = await (await signedIn(service, owner)).open(pathOf(id))
    expect({ buttons: buttonsOn(other), shown: other.shown }).toEqual({
      buttons: ['Delete'],
      shown: expect.stringContaining(`https://hooks.example/kanban ${toOthers} ${about}`),
    })
  })

  test('disables and enables it, from where it stopped or from now', async () => {
    const id = await create()
    const [{ cursor }] = await list()
    const press = async (name: string) => {
      const { text } = await visitor.open(pathOf(id))
      const whole = [...text.matchAll(/<form.*?<\/form>/gs)].find(([one]) => textOf(one).startsWith(name))![0]
      const { action, hidden } = formOf(whole)
      const { location } = await visitor.post(action, hidden)
      expect(location).toBe(pathOf(id))
      const [{ state, cursor: after }] = await list()
      return [state, after === cursor]
    }
    await api('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title: 'Sow' })
    expect(await press('Disable')).toEqual(['disabled', true])
    expect(await press('Enable, go on')).toEqual(['active', true])
    await progress(id, { state: 'failing', reason: 'timed out', failing_since: since, failures: 4, next_at: '2026-11-20T13:00:00.000Z' })
    expect(await press('Try again now')).toEqual(['active', true])
    expect(await press('Disable')).toEqual(['disabled', true])
    expect(await press('Enable from now')).toEqual(['active', false])
  })

  test('edits where it sends and what: only what was changed, and no choice is all kinds', async () => {
    const id = await create({ kinds: ['card', 'work'] })
    const edit = async (...kinds: string[]) => {
      await form('webhooks.update', { webhook_id: id })
      const { action, hidden } = formOf(visitor.page!.text, `${base}/do/webhooks.update`)
      const fields = [...Object.entries(hidden), ['url', valueOf(visitor.page!)!], ...['', ...kinds].map((kind) => ['kinds', kind])]
      const { location } = await visitor.post(action, {}, { body: String(new URLSearchParams(fields as [string, string][])) })
      return [location, (await list())[0].kinds]
    }
    expect({ shown: (await form('webhooks.update', { webhook_id: id })).shown, kinds: chosenOn(visitor.page!) }).toEqual({
      shown: expect.stringContaining('Without a choice, all changes are sent.'),
      kinds: ['card', 'work'],
    })
    expect(await edit('card', 'comment')).toEqual([path, ['card', 'comment']])
    expect(await edit()).toEqual([path, null])
    expect(await edit()).toEqual([path, null])
    await form('webhooks.update', { webhook_id: id })
    await visitor.submit({ url: 'https://hooks.example/new' }, `${base}/do/webhooks.update`)
    expect(await list()).toMatchObject([{ url: 'https://hooks.example/new', kinds: null, state: 'active' }])
  })

  test('tests it, and lists what was answered, the newest first', async () => {
    const id = await create()
    expect((await visitor.open(pathOf(id))).shown).toContain('Last deliveries Nothing was sent yet.')
    const press = async (answer: Answered) => {
      receiver.answer = answer
      await visitor.open(pathOf(id))
      const page = await visitor.submit({}, `${base}/do/webhooks.test`)
      service.now += 60_000
      return [messageOn(page), rowsOn(page)] as const
    }
    const at = [0, 1, 2].map((minutes) => new Date(service.now + minutes * 60_000).toISOString())
    expect(await press({ status: 204 })).toEqual([['done', 'The receiver answered 204 after 0 ms.'], [[at[0], 'a test 204 0 ms']]])
    expect((await press({ status: 500 }))[0]).toEqual(['warning', 'The receiver answered 500 after 0 ms.'])
    expect(await press({ error: 'connection refused' })).toEqual([
      ['warning', 'No answer after 0 ms: connection refused.'],
      [
        [at[2], 'a test none connection refused 0 ms'],
        [at[1], 'a test 500 0 ms'],
        [at[0], 'a test 204 0 ms'],
      ],
    ])
    // Whoever has the address sees no result of another test.
    expect(messageOn(await visitor.open(`${pathOf(id)}?tested=msg_none`))).toBeUndefined()
    // From the list, the result is on its page too.
    receiver.answer = { status: 200 }
    await visitor.open(path)
    expect(messageOn(await visitor.submit({}, `${base}/do/webhooks.test`))).toEqual(['done', 'The receiver answered 200 after 0 ms.'])
  })

  test('escapes what it shows', async () => {
    const id = await create({ url: 'https://hooks.example/<script>?"&\'' })
    const markup = (page: ReceivedPage) => /<script>|\?"&'/.test(page.text)
    for (const one of [path, pathOf(id), `${base}/do/webhooks.update?webhook_id=${id}`, `${base}/do/webhooks.delete?webhook_id=${id}`])
      expect([one, markup(await visitor.open(one))]).toEqual([one, false])
    expect(valueOf(await form('webhooks.update', { webhook_id: id }))).toContain('&lt;script>')
  })

  test('asks before it is deleted; then the board has it no more, and no page is left', async () => {
    const id = await create()
    const page = await form('webhooks.delete', { webhook_id: id })
    expect(page.shown).toContain('Delete webhook https://hooks.example/kanban, in Spring This cannot be undone.')
    const { action, hidden } = formOf(page.text, `${base}/do/webhooks.delete`)
    // It was opened from the page that is gone then.
    expect((await visitor.post(action, { ...hidden, back: pathOf(id) })).location).toBe(path)
    expect((await visitor.open(path)).shown).toContain('This board has no webhooks yet.')
    const gone = [
      pathOf(id),
      ...['update', 'delete', 'rotate_secret', 'test'].map((name) => `${base}/do/webhooks.${name}?webhook_id=${id}`),
    ]
    for (const one of gone) expect([one, (await visitor.request(one)).status]).toEqual([one, 404])
    expect((await visitor.post(action, hidden)).status).toBe(404)
  })
})

describe('deliveries', async () => {
  const world = await buildWorld()
  const { service, visitor, boardId, create, pathOf, clear, receiver, owner, creator, columns, api, base } = world
  beforeAll(() => service.app.deliverer.start())
  afterAll(() => service.app.deliverer.stop())
  beforeEach(clear)
  const change = async (person = owner) =>
    void (await api('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title: 'Dig' }, person))
  const shows = (id: string, text: string, from = visitor) =>
    expect.poll(async () => (await from.request(pathOf(id))).shown, { timeout: 10_000 }).toContain(text)

  test('are listed on the page, which says that they fail', async () => {
    const id = await create()
    await change()
    await shows(id, '1 change 204 0 ms')
    receiver.answer = { status: 503 }
    await change()
    await shows(id, 'Failing since')
    expect(rowsOn(await visitor.open(pathOf(id))).map(([, row]) => row)).toEqual(['1 change 503 0 ms', '1 change 204 0 ms'])
    expect(visitor.page!.shown).toMatch(/The delivery is tried again in (?:less than a|\d+) minutes?, for three days at most\./)
  })

  /** The body that the page of a delivery shows; undefined: none. */
  const bodyOn = async (id: string, delivery: string, from = visitor) => {
    const page = await from.request(`${pathOf(id)}?delivery=${delivery}`)
    expect(page.status).toBe(200)
    const body = /<code id="sent-body"[^>]*>([^<]*)/.exec(page.text)?.[1]
    return { page, body: body === undefined ? undefined : JSON.parse(decoded(body)) }
  }

  test('show what was sent, and neither the signature nor the authorization', async () => {
    const authorization = 'Bearer a-secret-of-the-receiver'
    const id = await create({ kinds: ['comment'], authorization })
    const card = (await api('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title: 'Weed' })).id
    const comment = async (body: string) => (await api('POST', `/cards/${card}/comments`, { body })).id
    await comment('First <b>')
    await expect.poll(() => receiver.sent.length).toBe(1)
    // A delivery that has read changes of other kinds, too.
    await api('PATCH', `/webhooks/${id}`, { enabled: false }, creator)
    await api('PATCH', `/cards/${card}`, { title: 'Weeds' })
    const second = await comment('Second')
    await api('PATCH', `/webhooks/${id}`, { enabled: true }, creator)
    await expect.poll(() => receiver.sent.length).toBe(2)
    await api('POST', `/webhooks/${id}/test`, undefined, creator)
    expect(receiver.sent.length).toBe(3)
    await shows(id, 'a test 204')
    for (const { body, headers } of receiver.sent) {
      const shown = await bodyOn(id, headers['webhook-id']!)
      expect(shown.body).toEqual(JSON.parse(body as string))
      for (const secret of [authorization, headers['webhook-signature']!.slice(3)]) expect(shown.page.text).not.toContain(secret)
    }
    // The body is not kept: what is deleted is gone from it, as from the feed.
    await api('DELETE', `/comments/${second}`)
    const { headers } = receiver.sent[1]!
    const later = await bodyOn(id, headers['webhook-id']!)
    expect(later.body.data.entries[0].data?.body).not.toBe('Second')
    // What an earlier version has stored does not say where its changes are.
    await service.write(owner.workspaceId, async (tx) => {
      const stored = (await tx.get(keys.webhookDeliveries(id)))!
      tx.put(keys.webhookDeliveries(id), { ...stored, deliveries: stored.deliveries.map(({ part: _part, ...one }) => one) })
    })
    const lost = await bodyOn(id, headers['webhook-id']!)
    expect([lost.body, lost.page.shown]).toEqual([undefined, expect.stringContaining('does not keep these changes any more')])
    expect((await bodyOn(id, 'msg_unknown')).page.shown).not.toContain('What was sent')
  })

  test('end when the receiver is gone, as the page and the inbox say', async () => {
    const id = await create()
    receiver.answer = { status: 410 }
    await change()
    await shows(id, 'Disabled The receiver answered 410: it does not exist any more.')
    const inbox = await visitor.open(`${base}/notices`)
    const notice = 'Your webhook to hooks.example on &quot;Spring&quot; was disabled. Its page says why.'
    expect(inbox.text).toContain(`<a href="${base}/boards/${boardId}/webhooks" dir="auto">${notice}</a>`)
    expect(alertsOf(inbox)).toBeUndefined()
  })

  test('end when the creator may not read the board any more, who enables the webhook when they may', async () => {
    const id = await create()
    await api('PUT', `/boards/${boardId}/visibility`, { visibility: 'private' })
    await change()
    const other = await signedIn(service, owner)
    await shows(id, 'Suspended Its creator may not read the board any more. Only its creator can enable it again.', other)
    expect((await visitor.request(pathOf(id))).status).toBe(404)
    await api('PUT', `/boards/${boardId}/members/${creator.id}`)
    expect(buttonsOn(await visitor.open(pathOf(id)))).toContain('Enable, go on where it stopped')
    expect(receiver.sent).toEqual([])
  })
})
