import { expect, test } from 'vitest'
import { addMember } from '../../src/admin/memberships.ts'
import { addUser } from '../../src/admin/users.ts'
import { issueToken } from '../../src/auth/tokens/issue.ts'
import { pages } from '../../src/web/pages.ts'
import { startWithAudit } from '../support/audit-trail.ts'
import { memory } from '../support/memory.ts'
import type { Person } from '../support/service.ts'
import { inviteUser } from '../../src/admin/users.ts'
import { formOf, signedIn, Visitor, type ReceivedPage } from '../support/visitor.ts'

// Whoever writes from right to left reads names and texts in their direction, wherever they stand: where all of them are Hebrew.
const { service, recorder } = await startWithAudit(memory, { proxies: 1 })
const HEBREW = /[\u0590-\u05FF]/
/** Where a text has no markup, and the browser gives a title or a choice the direction of its first word. */
const WITHOUT_MARKUP = /^(?:title|option|script|style)$/
const VOID = /^(?:area|br|col|hr|img|input|link|meta|source|wbr|path|circle|rect|line)$/

/** The texts and fields in Hebrew of a page that do not say their direction, with the way to each. */
function undirected(html: string): string[] {
  const found: string[] = []
  const open: { readonly name: string; readonly hasDirection: boolean }[] = []
  for (const [whole, slash, name = '', attributes = '', text] of html.matchAll(
    /<!--.*?-->|<(\/?)([a-z][\w-]*)((?:\s+[^\s=>/]+(?:="[^"]*")?)*)\s*\/?>|([^<]+)/gs,
  )) {
    const hasDirection = name === 'bdi' || / dir="auto"/.test(attributes)
    if (text !== undefined) {
      const isDirected = open.some((one) => one.hasDirection || WITHOUT_MARKUP.test(one.name))
      if (HEBREW.test(text) && !isDirected) found.push(`${open.map((one) => one.name).join(' ')}: ${text.trim()}`)
    } else if (slash === '/') open.splice(open.findLastIndex((one) => one.name === name))
    else if (name !== '') {
      const isField = name === 'input' && !/ type="(?:hidden|checkbox|radio)"/.test(attributes)
      if (isField && HEBREW.test(/ value="([^"]*)"/.exec(attributes)?.[1] ?? '') && !hasDirection) found.push(whole)
      if (!VOID.test(name) && !whole.endsWith('/>')) open.push({ name, hasDirection })
    }
  }
  return found
}

test.each([
  ['<p>שלום</p>', ['p: שלום']],
  ['<p dir="auto">שלום <b>שלום</b></p>', []],
  ['<p><bdi>שלום</bdi> of <i>רב</i></p>', ['p i: רב']],
  ['<p title="a > b"><br/><input value="שלום"/><select><option>רב</option></select>', ['<input value="שלום"/>']],
])('what lacks a direction is found in %s', (html, expected) => expect(undirected(html)).toEqual(expected))

interface World {
  readonly owner: Person
  readonly visitor: Visitor
  readonly base: string
  readonly addresses: readonly string[]
  /** what is shown in answer to forms */
  readonly answers: readonly ReceivedPage[]
}

/** A workspace that shows something on every page. */
async function build(): Promise<World> {
  const workspaceId = await service.workspace('מערכת')
  const owner = await service.person(workspaceId, 'owner', 'אולגה כהן')
  const other = await service.person(workspaceId, 'member', 'דוד לוי')
  const invited = await addUser(service.deps, { display_name: 'חדש' })
  await addMember(service.deps, workspaceId, invited, 'member')
  const agentToken = async (person: Person) =>
    service.write(workspaceId, (tx) => issueToken(tx, { userId: person.id, name: 'סוכן', scopes: ['kanban:admin'] }, service.deps))
  const [own, theirs] = [await agentToken(owner), await agentToken(other)]
  const api = async (method: string, path: string, body?: unknown, token = own.plaintext, headers = {}) => {
    const reply = await service.send(token, method, path, body, headers)
    expect({ method, path, status: reply.status, text: reply.text }).toMatchObject({ status: expect.toSatisfy((status) => status < 300) })
    return reply.body.data
  }
  const boardId = (await api('POST', '/boards', { name: 'לוח', description: 'תיאור **לוח**' })).id
  const [first, second] = [
    await api('POST', `/boards/${boardId}/columns`, { name: 'לעשות' }),
    await api('POST', `/boards/${boardId}/columns`, { name: 'בוצע' }),
  ]
  const label = await api('POST', `/boards/${boardId}/labels`, { name: 'תווית', color: '#1a7f37' })
  const create = async (title: string, more: object = {}) =>
    (
      await api('POST', `/boards/${boardId}/cards`, {
        column_id: first.id,
        title,
        description: 'תיאור\n\n- אחת\n\n| א | ב |\n|--|--|\n| ג | ד |',
        ...more,
      })
    ).id
  const card = await create('כרטיס', { label_ids: [label.id], assignee_ids: [owner.id, other.id], subtasks: ['משימה'] })
  const [failed, stuck, asks, claimed, archived, deleted] = [
    await create('נכשל'),
    await create('תקוע', { column_id: second.id }),
    await create('שואל', { assignee_ids: [owner.id] }),
    await create('תפוס'),
    await create('ארכיון'),
    await create('נמחק'),
  ]
  await api('PUT', `/cards/${card}/blockers/${failed}`)
  await api('POST', `/cards/${card}/comments`, { body: `תגובה @${owner.id}` }, theirs.plaintext)
  await api('PATCH', `/cards/${card}`, { title: 'כרטיס אחר' }, theirs.plaintext)
  await api('POST', `/cards/${card}/move`, { column_id: second.id }, theirs.plaintext)
  const file = new FormData()
  file.set('file', new File(['שלום'], 'קובץ.txt', { type: 'text/plain' }))
  expect((await service.upload(own.plaintext, `/cards/${card}/files`, file)).status).toBe(201)
  await api('PATCH', `/columns/${second.id}`, { max_attempts: 1 })
  for (const [id, end, body] of [
    [failed, 'failure', { reason: 'סיבה' }],
    [stuck, 'failure', { reason: 'סיבה' }],
    [asks, 'question', { question: 'שאלה?' }],
  ] as const) {
    const { epoch } = await api('PUT', `/cards/${id}/claim`, {}, theirs.plaintext)
    await api('POST', `/cards/${id}/claim/${end}`, body, theirs.plaintext, { 'if-claim': String(epoch) })
  }
  await api('PUT', `/cards/${claimed}/claim`, {}, theirs.plaintext)
  await api('POST', `/cards/${archived}/archive`)
  await api('DELETE', `/cards/${deleted}`)
  await api('POST', `/boards/${boardId}/columns`, { name: 'ישן' }).then(({ id }) => api('POST', `/columns/${id}/archive`))
  await api('PUT', `/boards/${boardId}/visibility`, { visibility: 'private' })
  await api('PUT', `/boards/${boardId}/members/${other.id}`)
  await api('POST', `/boards/${boardId}/webhooks`, { url: 'https://receiver.example/x' })
  const base = `/app/${workspaceId}`
  const forms = [
    `cards.update?card_id=${card}`,
    `cards.delete?card_id=${card}`,
    `boards.delete?board_id=${boardId}`,
    `blockers.add?card_id=${card}`,
  ]
  const addresses = [
    ...forms.map((form) => `${base}/do/${form}`),
    `${base}/cards?q=תקוע`,
    `${base}/cards?q=אין`,
    `${base}/cards/${claimed}`,
    `${base}/cards/${asks}`,
    `${base}/cards/${stuck}`,
  ]
  const visitor = await signedIn(service, owner)
  const answers: ReceivedPage[] = []
  /** Sends a form, after what happens meanwhile. */
  const send = async (
    path: string,
    fields: Record<string, string>,
    meanwhile: () => unknown = () => undefined,
    action = path.replace(/[?].*/, ''),
  ) => {
    await visitor.open(path)
    const form = formOf(visitor.page!.text, action)
    await meanwhile()
    const page = await visitor.post(form.action, { ...form.hidden, ...fields })
    answers.push(page.location === null ? page : await visitor.open(page.location))
  }
  const update = `${base}/do/cards.update?card_id=${card}`
  const theirChange = () => api('PATCH', `/cards/${card}`, { description: 'שלהם' }, theirs.plaintext)
  await send(update, { title: 'כרטיס אחר', description: 'שלי' }, theirChange)
  await send(update, { title: 'שם', description: 'שלהם' }, () => api('PATCH', `/cards/${card}`, { description: 'עוד' }, theirs.plaintext))
  await send(`${base}/do/cards.delete?card_id=${claimed}`, { confirmed: 'תפוס' })
  await send(
    `/settings/tokens/new?workspace=${workspaceId}`,
    { name: 'חדש', scope: 'kanban:read', days: '30' },
    undefined,
    '/settings/tokens/new',
  )
  answers.push(await visitor.submit({}, '/settings/confirm'))
  const members = `/settings/workspace/${workspaceId}/members`
  await send(`${members}/invite`, { name: 'מוזמן', email: 'a@example.org', role: 'member' })
  await send(`${members}/${other.id}/link`, {})
  const { sign_up_link } = await inviteUser(service.deps, invited.id, visitor.origin)
  answers.push(await new Visitor(service).open(sign_up_link))
  // Somebody else has revoked a token, and the person is in two workspaces.
  const lost = await service.write(workspaceId, (tx) =>
    issueToken(tx, { userId: other.id, name: 'אבוד', scopes: ['kanban:read'] }, service.deps),
  )
  await send(`/settings/workspace/${workspaceId}/tokens/${lost.token.id}/revoke`, {})
  answers.push(await (await signedIn(service, other)).open('/settings/tokens'))
  const second_workspace = await service.workspace('מערכת שנייה')
  await addMember(service.deps, second_workspace, { id: owner.id, display_name: owner.name } as never, 'owner')
  addresses.push(`${base}/cards/${card}?history`, `${base}/welcome`, '/app/notices', '/settings/workspace', '/settings/tokens?q=סוכן')
  await recorder.flush()
  return { answers, owner, visitor, base, addresses }
}

const world = await build()
const linksOf = (text: string) =>
  [...text.matchAll(/ href="(\/(?:app|settings)[^"#]*)/g)]
    .map(([, link]) => link!.replaceAll('&amp;', '&'))
    .filter((link) => !/assets|download/.test(link))
const patternOf = (path: string) => path.replace(/\?.*/, '').replaceAll(/\b[a-z]{3}_[0-9a-z]{10,}/g, '*')
/** How many pages of a pattern are looked at. */
const EACH = 8

test('each text and name on a page says its direction', async () => {
  const { visitor, addresses, answers } = world
  const waiting = ['/app', ...addresses, ...pages.flatMap(({ path, get }) => (path.includes('{') || get === undefined ? [] : [path]))]
  const seen = new Map<string, number>()
  const all = new Set(waiting)
  const missing = new Map<string, string>()
  let hebrew = 0
  const look = (path: string, { text }: ReceivedPage) => {
    for (const one of undirected(text)) if (!missing.has(one)) missing.set(one, path)
  }
  for (const [i, answer] of answers.entries()) look(`answer ${i}`, answer)
  expect(answers.map(({ status, text }) => HEBREW.test(text) && status)).toEqual([412, 200, 409, 200, 200, 200, 200, 200, 200, 200])
  for (const path of waiting) {
    const page = await visitor.request(path)
    if (page.location !== null && !all.has(page.location)) waiting.push(page.location)
    if (!(page.headers.get('content-type') ?? '').startsWith('text/html')) continue
    if (HEBREW.test(page.text)) hebrew++
    look(path, page)
    for (const link of linksOf(page.text)) {
      const pattern = patternOf(link)
      if (all.has(link) || (seen.get(pattern) ?? 0) >= EACH) continue
      seen.set(pattern, (seen.get(pattern) ?? 0) + 1)
      all.add(link)
      waiting.push(link)
    }
  }
  expect([...missing].map(([one, path]) => `${patternOf(path)} ${one}`)).toEqual([])
  expect(hebrew).toBeGreaterThan(40)
  const unseen = pages.filter(
    ({ get, path }) =>
      get !== undefined && ![...all].some((one) => patternOf(one) === path.replaceAll(/\{\w+\}/g, '*').replace('do/*', 'do/cards.update')),
  )
  // Addresses of scripts and of pictures, a passkey, and a form whose page was looked at as an answer.
  expect(unseen.map(({ path }) => path)).toEqual([
    '/app/{workspace}/notices/unread',
    '/app/{workspace}/cards/{card}/choices/{of}',
    '/app/{workspace}/attachments/{attachment}/picture',
    '/app/{workspace}/attachments/{attachment}/preview',
    '/app/{workspace}/events',
    '/app/{workspace}/boards/{board}/changes',
    '/app/{workspace}/boards/{board}/people',
    '/app/{workspace}/find',
    '/settings/account/passkeys/{passkey}',
    '/settings/confirm/{id}',
  ])
})
