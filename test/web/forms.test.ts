import { beforeEach, describe, expect, test } from 'vitest'
import { inviteUser } from '../../src/admin/users.ts'
import { editingPage } from '../../src/web/boards/editing.ts'
import { importPage } from '../../src/web/import/page.ts'
import { pages } from '../../src/web/pages.ts'
import { attacks, oldBrowser, readStore } from '../support/form-attacks.ts'
import { accountForms, fill, type FilledForm } from '../support/account-forms.ts'
import { startForSuite } from '../support/board-team.ts'
import { png, webp } from '../support/pictures.ts'
import type { Person } from '../support/service.ts'
import { formOf, giveAccount, PASSWORD, plaintextIn, signedIn, Visitor } from '../support/visitor.ts'

const service = await startForSuite()
const workspaceId = await service.workspace()
const other = await signedIn(service, await service.person(workspaceId))
let person: Person
beforeEach(async () => void (person = await service.person(workspaceId)))

/** The records, and what the bytes of files are stored under: a preview has no record. */
const stored = async () => `${await readStore(service, workspaceId)} ${(await service.place.blobKeys()).toSorted().join(' ')}`
/** Fills in a form of a page. @param path of a page, or of the page of a token: `{token}` is the first one of the person */
async function on(path: string, fields: Record<string, string>, action = path, by = person): Promise<FilledForm> {
  const [id] = path.includes('{token}') ? await (await signedIn(service, person)).tokenIds() : []
  const visitor = await signedIn(service, by)
  await visitor.open(path.replace('{token}', id!))
  return fill(visitor, fields, action.replace('{token}', id!))
}
const onMembers = async (form: string, fields: Record<string, string> = {}) =>
  on(`/settings/workspace/${workspaceId}/members/${form}`, fields, undefined, await service.person(workspaceId, 'owner'))
/** Fills in the form of each page that is not of an account correctly. */
const forms: Record<string, () => Promise<FilledForm>> = {
  '/app/{workspace}/do/{operation}': () => on(`/app/${workspaceId}/do/boards.create`, { name: 'Plan', template: 'columns' }),
  '/app/{workspace}/boards/{board}/star': async () => {
    const { data: board } = (await service.send(person.admin, 'POST', '/boards', { name: 'Plan' })).body
    return on('/app', { starred: 'true' }, `/app/${workspaceId}/boards/${board.id}/star`)
  },
  '/app/{workspace}/notices': async () => {
    // What an agent of the person does is a notice to them.
    const { data: board } = (await service.send(person.admin, 'POST', '/boards', { name: 'Plan' })).body
    const { data: column } = (await service.send(person.admin, 'POST', `/boards/${board.id}/columns`, { name: 'To do' })).body
    const card = { column_id: column.id, title: 'Sow', assignee_ids: [person.id] }
    await service.send(person.admin, 'POST', `/boards/${board.id}/cards`, card)
    const path = `/app/${workspaceId}/notices`
    return on(path, {}, path)
  },
  '/app/{workspace}/attachments/{attachment}/preview': async () => {
    const { data: board } = (await service.send(person.admin, 'POST', '/boards', { name: 'Plan' })).body
    const { data: column } = (await service.send(person.admin, 'POST', `/boards/${board.id}/columns`, { name: 'To do' })).body
    const { data: card } = (await service.send(person.admin, 'POST', `/boards/${board.id}/cards`, { column_id: column.id, title: 'Sow' }))
      .body
    const form = new FormData()
    form.set('file', new File([png(800, 600), Buffer.alloc(100 * 1024)], 'a.png', { type: 'image/png' }))
    const { data: attachment } = (await service.upload(person.admin, `/cards/${card.id}/files`, form)).body
    const preview = webp(10, 10, 100).toString('base64url')
    const filled = await on('/settings/tokens', { preview }, '/settings/sign-out')
    return { ...filled, path: `/app/${workspaceId}/attachments/${attachment.id}/preview` }
  },
  '/settings/sign-in': async () => {
    const visitor = new Visitor(service)
    const email = await giveAccount(service, person)
    await visitor.open('/settings/sign-in')
    return fill(visitor, { email, password: PASSWORD })
  },
  '/settings/sign-up': async () => {
    const visitor = new Visitor(service)
    const { sign_up_link } = await inviteUser(service.deps, person.id, visitor.origin)
    await visitor.open(sign_up_link)
    return fill(visitor, { email: `${person.id}@example.org`, password: PASSWORD, again: PASSWORD })
  },
  '/settings/sign-out': () => on('/settings/tokens', { where: 'here' }, '/settings/sign-out'),
  '/settings/tokens/new': () =>
    on(`/settings/tokens/new?workspace=${workspaceId}`, { name: 'CI', scope: 'kanban:read', days: '30' }, '/settings/tokens/new'),
  '/settings/confirm/{id}': async () => {
    const visitor = await signedIn(service, person)
    await visitor.choose(workspaceId)
    return fill(visitor, {})
  },
  '/settings/tokens/{workspace}/{token}/rotate': () =>
    on(`/settings/tokens/${workspaceId}/{token}/rotate`, { days: '30', password: PASSWORD }),
  '/settings/tokens/{workspace}/{token}/revoke': () => on(`/settings/tokens/${workspaceId}/{token}/revoke`, {}),
  '/settings/workspace/{workspace}': async () =>
    on(`/settings/workspace/${workspaceId}`, { max_days: '60', admin: 'on' }, undefined, await service.person(workspaceId, 'admin')),
  '/settings/workspace/{workspace}/tokens/{token}/revoke': async () =>
    on(`/settings/workspace/${workspaceId}/tokens/{token}/revoke`, {}, undefined, await service.person(workspaceId, 'owner')),
  '/settings/workspace/{workspace}/members/invite': () =>
    onMembers('invite', { name: 'Nina', email: `nina-of-${person.id}@example.org`, role: 'member' }),
  '/settings/workspace/{workspace}/members/{user}/role': () => onMembers(`${person.id}/role`, { role: 'admin' }),
  '/settings/workspace/{workspace}/members/{user}/end': () => onMembers(`${person.id}/end`),
  '/settings/workspace/{workspace}/members/{user}/link': () => onMembers(`${person.id}/link`),
}
/** The form of each page. A test fails for a page that is missing here. */
const allForms = {
  ...forms,
  ...accountForms(
    () => service,
    () => person,
  ),
}
// A page whose address is signed is for programs that read mails (test/mail/notice-mails.test.ts). Who edits something is stored nowhere
// (test/web/presence.test.ts). A form with a file has suites of its own (test/web/import.test.ts).
const posts = pages.filter((page) => page.post !== undefined && page.isSigned !== true && page !== editingPage && page !== importPage)

test('every page with a form is tested', () => {
  expect(posts.map(({ path }) => path).toSorted()).toEqual(Object.keys(allForms).toSorted())
})

describe.each(posts)('the form of $path', ({ path, anonymous, callsOperations = false, isPart = false }) => {
  const fillIn = () => allForms[path]!()

  test('every attack is refused and changes nothing, and the genuine form is accepted after them', async () => {
    const genuine = await fillIn()
    const before = await stored()
    for (const [name, attack] of Object.entries(attacks)) {
      const { path: target = genuine.path, fields = genuine.fields, options } = attack(genuine, other.formToken)
      const page = await genuine.visitor.post(target, fields, options)
      expect({ name, status: page.status, cookies: page.cookies.size }).toEqual({
        name,
        status: name.startsWith('as text/plain') ? 415 : 403,
        cookies: 0,
      })
      expect([name, (await stored()) === before]).toEqual([name, true])
    }
    expect([200, 303]).toContain((await genuine.visitor.post(genuine.path, genuine.fields)).status)
    expect(await stored()).not.toBe(before)
  })

  test('the form of an old browser is accepted by its form token, however it writes the type', async () => {
    const { visitor, path: target, fields } = await fillIn()
    const headers = { ...oldBrowser.headers, 'content-type': 'APPLICATION/x-www-form-urlencoded ; charset=utf-8' }
    expect([200, 303]).toContain((await visitor.post(target, fields, { headers })).status)
  })

  test('another browser, too large a form and other content types are refused, and change nothing', async () => {
    const { visitor, path: target, fields } = await fillIn()
    const stranger = await signedIn(service, await service.person(workspaceId))
    const before = await stored()
    expect((await stranger.post(target, fields)).status).toBe(403)
    const limit = callsOperations ? 2 * 1024 * 1024 : 16 * 1024
    const large = await visitor.post(target, { ...fields, name: 'x'.repeat(limit) })
    expect({ status: large.status, shown: large.shown }).toEqual({
      status: 413,
      shown: expect.stringContaining(`larger than ${limit} bytes`),
    })
    const body = new TextEncoder().encode(String(new URLSearchParams(fields))) as never
    for (const type of ['application/json', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencodedx', null])
      expect([type, (await visitor.post(target, fields, { headers: { 'content-type': type }, body })).status]).toEqual([
        type,
        // A form with a file is accepted there, and this one is no such form.
        callsOperations && type?.startsWith('multipart/') === true ? 400 : 415,
      ])
    expect(await stored()).toBe(before)
  })

  if (anonymous) {
    test('a form is refused if the form cookie has another format than ours, even if both match', async () => {
      const { visitor, path: target, fields } = await fillIn()
      for (const token of ['', 'a', 'x'.repeat(42)]) {
        visitor.jar.set('lk_form', token)
        expect([token, (await visitor.post(target, { ...fields, form_token: token }, oldBrowser)).status]).toEqual([token, 403])
      }
      visitor.jar.delete('lk_form')
      expect((await visitor.post(target, fields, oldBrowser)).status).toBe(403)
    })
  } else {
    test('a form without a session redirects to the sign-in page, or is refused to a script, and changes nothing', async () => {
      const { visitor, path: target, fields } = await fillIn()
      const before = await stored()
      visitor.jar.delete('lk_session')
      const page = await visitor.post(target, fields)
      expect({ status: page.status, location: page.location }).toEqual(
        isPart ? { status: 401, location: null } : { status: 303, location: '/settings/sign-in' },
      )
      expect(await stored()).toBe(before)
    })
  }
})

describe('forged values', () => {
  const numbers = ['', '0', '91', '1e1', 'NaN', 'Infinity', '-1', '1.5', '9'.repeat(400), '\u0663\u0660', ' 5 ', '+5', '5.0', '0b1', '1_0']
  test.each([...numbers, '30 days'])('a lifetime of %j days is refused when a token is created and when it is rotated', async (days) => {
    const visitor = await signedIn(service, person)
    const chosen = await visitor.choose(workspaceId, { days })
    expect({ status: chosen.status, shown: chosen.shown }).toEqual({ status: 422, shown: expect.stringContaining('Lifetime in days') })
    expect(chosen.text).toContain('id="days-error"')
    const [id] = await visitor.tokenIds()
    const before = await stored()
    await visitor.open(`/settings/tokens/${workspaceId}/${id}/rotate`)
    expect((await visitor.submit({ days })).status).toBe(422)
    expect(await stored()).toBe(before)
  })

  const scopes = ['', 'kanban:root', 'other:read', 'KANBAN:ADMIN', 'kanban:read kanban:admin', 'kanban:read,kanban:admin', '__proto__']
  test.each([...scopes, ' kanban:read'])('a scope of %j is refused', async (scope) => {
    const visitor = await signedIn(service, person)
    const before = await stored()
    const page = await visitor.choose(workspaceId, { scope })
    expect({ status: page.status, text: page.text }).toEqual({ status: 422, text: expect.stringContaining('id="scope-error"') })
    expect(await stored()).toBe(before)
  })

  test.each(['', '   ', 'a\nb', 'a\u0000b', 'x'.repeat(101)])('a name of %j is refused', async (name) => {
    const page = await (await signedIn(service, person)).choose(workspaceId, { name })
    expect({ status: page.status, text: page.text }).toEqual({ status: 422, text: expect.stringContaining('id="name-error"') })
  })

  test('extra fields in the confirmation form are ignored: only what was shown is issued', async () => {
    const visitor = await signedIn(service, person)
    await visitor.choose(workspaceId, { name: 'CI', scope: 'kanban:read', days: '2' })
    const more = { scope: 'kanban:admin', scopes: 'kanban:admin', days: '90', name: 'root', workspace: 'wsp_00000000000000000000' }
    const { body } = await service.send(plaintextIn(await visitor.submit(more)), 'GET', '/account')
    expect(body.data).toMatchObject({ scopes: ['kanban:read'], token: { name: 'CI' } })
    expect(Date.parse(body.data.token.expires_at)).toBe(service.now + 2 * 24 * 60 * 60 * 1000)
  })

  test('if a field occurs twice, the value that is shown for confirmation is the one that is issued', async () => {
    const visitor = await signedIn(service, person)
    await visitor.open(`/settings/tokens/new?workspace=${workspaceId}`)
    const { hidden, action } = formOf(visitor.page!.text)
    const twice = new URLSearchParams({ ...hidden, name: 'CI', days: '30', scope: 'kanban:read' })
    twice.append('scope', 'kanban:admin')
    const page = await visitor.post(action, {}, { body: String(twice) })
    if (page.location === null) expect(page.status).toBe(422)
    else expect((await visitor.open(page.location)).shown).toContain('kanban:admin')
  })

  test("another person's token, a token of another workspace and an absent token get the same 404 page", async () => {
    const visitor = await signedIn(service, person)
    const foreign = await service.workspace('Globex')
    const others = [await service.person(foreign), await service.person(workspaceId)]
    const [theirs, colleague] = await Promise.all(others.map((one) => signedIn(service, one)))
    const [[foreignToken], [colleagueToken], [owned]] = [await theirs!.tokenIds(), await colleague!.tokenIds(), await visitor.tokenIds()]
    const form_token = visitor.formToken
    const before = await stored()
    const texts = new Set<string>()
    for (const [workspace, token] of [
      [workspaceId, colleagueToken],
      [workspaceId, foreignToken],
      [foreign, foreignToken],
      [foreign, owned],
      [workspaceId, 'tok_00000000000000000000'],
      ['wsp_00000000000000000000', owned],
      ['global', owned],
      [workspaceId, `..%2f${owned}`],
      [workspaceId, '%zz'],
      [workspaceId, `${owned}%00`],
    ])
      for (const action of ['rotate', 'revoke']) {
        const path = `/settings/tokens/${workspace}/${token}/${action}`
        const got = await visitor.request(path)
        const posted = await visitor.post(path, { form_token, days: '30', password: PASSWORD })
        expect({ path, got: got.status, posted: posted.status }).toEqual({ path, got: 404, posted: 404 })
        texts.add(got.shown).add(posted.shown)
      }
    expect(texts.size).toBe(1)
    expect(await stored()).toBe(before)
  })

  test('a workspace without an active membership has no page, and an unconfirmed token in it cannot be created', async () => {
    const visitor = await signedIn(service, person)
    const foreign = await service.workspace('Globex')
    await visitor.choose(workspaceId)
    const confirmation = formOf(visitor.page!.text)
    for (const workspace of [foreign, 'wsp_00000000000000000000', 'global', '', '../x'])
      expect((await visitor.request(`/settings/tokens/new?workspace=${encodeURIComponent(workspace)}`)).status).toBe(404)
    const fields = { ...confirmation.hidden, name: 'CI', scope: 'kanban:read', days: '30' }
    expect((await visitor.post('/settings/tokens/new', { ...fields, workspace: foreign })).status).toBe(404)
    await service.leaveOnly(workspaceId, person.id)
    const before = await stored()
    expect((await visitor.post(confirmation.action, confirmation.hidden)).status).toBe(410)
    expect((await visitor.post('/settings/tokens/new', { ...fields, workspace: workspaceId })).status).toBe(404)
    expect(await stored()).toBe(before)
    expect((await visitor.open('/settings/tokens')).shown).toContain('You are not a member of any workspace yet')
  })

  test("another person's confirmation is refused", async () => {
    const visitor = await signedIn(service, person)
    await visitor.choose(workspaceId)
    const { action } = formOf(visitor.page!.text)
    await other.open('/settings/tokens')
    const form_token = other.formToken
    expect({ got: (await other.request(action)).status, posted: (await other.post(action, { form_token })).status }).toEqual({
      got: 410,
      posted: 410,
    })
    expect((await visitor.submit()).status).toBe(200)
  })
})
