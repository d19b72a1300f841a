import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { inviteUser } from '../../src/admin/users.ts'
import { GLOBAL } from '../../src/store/keys.ts'
import { pages } from '../../src/web/app.ts'
import { drivers } from '../support/drivers.ts'
import { Service, type Person } from '../support/service.ts'
import { formOf, giveAccount, PASSWORD, plaintextIn, signedIn, textOf, Visitor, type Sending } from '../support/visitor.ts'

const memory = drivers[0]!
let service: Service
let workspaceId: string
let person: Person
let other: Visitor
beforeAll(async () => {
  service = await Service.start(memory, { proxies: 1 })
  workspaceId = await service.workspace()
  other = await signedIn(service, await service.person(workspaceId))
})
afterAll(() => service.stop())
beforeEach(async () => {
  person = await service.person(workspaceId)
})

/** All that is stored. */
async function stored(): Promise<string> {
  await service.app.services.usage.settled()
  const all: unknown[] = []
  for (const partition of [GLOBAL, workspaceId]) for await (const batch of service.store.dump(partition)) all.push(...batch)
  return JSON.stringify(all.toSorted())
}
const tokenIds = async (visitor: Visitor) =>
  [...(await visitor.open('/settings/tokens')).text.matchAll(/\/(tok_\w+)\/rotate"/g)].map(([, id]) => id!)

/** A form that is about to be sent: by whom, where to, and what is in it. */
interface Ready {
  readonly visitor: Visitor
  readonly path: string
  readonly fields: Record<string, string>
}

/** How each page that takes a form comes to be filled in rightly. A page without a row here is a red test. */
const forms: Record<string, () => Promise<Ready>> = {
  '/settings/sign-in': async () => {
    const visitor = new Visitor(service)
    const email = await giveAccount(service, person)
    await visitor.open('/settings/sign-in')
    return filled(visitor, { email, password: PASSWORD })
  },
  '/settings/sign-up': async () => {
    const visitor = new Visitor(service)
    const { sign_up_link } = await inviteUser(service.deps, person.id, visitor.origin)
    await visitor.open(sign_up_link)
    return filled(visitor, { email: `${person.id}@example.org`, password: PASSWORD, again: PASSWORD })
  },
  '/settings/sign-out': async () => {
    const visitor = await signedIn(service, person)
    return filled(visitor, { where: 'here' }, '/settings/sign-out')
  },
  '/settings/tokens/new': async () => {
    const visitor = await signedIn(service, person)
    await visitor.open(`/settings/tokens/new?workspace=${workspaceId}`)
    return filled(visitor, { name: 'CI', scope: 'kanban:read', days: '30' })
  },
  '/settings/confirm/{id}': async () => {
    const visitor = await signedIn(service, person)
    await visitor.choose(workspaceId)
    return filled(visitor, {})
  },
  '/settings/tokens/{workspace}/{token}/rotate': async () => {
    const visitor = await signedIn(service, person)
    const [id] = await tokenIds(visitor)
    await visitor.open(`/settings/tokens/${workspaceId}/${id}/rotate`)
    return filled(visitor, { days: '30', password: PASSWORD })
  },
  '/settings/tokens/{workspace}/{token}/revoke': async () => {
    const visitor = await signedIn(service, person)
    const [id] = await tokenIds(visitor)
    await visitor.open(`/settings/tokens/${workspaceId}/${id}/revoke`)
    return filled(visitor, {})
  },
}

function filled(visitor: Visitor, fields: Record<string, string>, at?: string): Ready {
  const { action, hidden } = formOf(visitor.shown!.text, at)
  return { visitor, path: action, fields: { ...hidden, ...fields } }
}

const posts = pages.filter(({ post }) => post !== undefined)

test('every page that takes a form is attacked here', () => {
  expect(posts.map(({ path }) => path).toSorted()).toEqual(Object.keys(forms).toSorted())
})

/** name → what is sent instead of the form as it is */
type Attack = (ready: Ready) => { path?: string; fields?: Record<string, string>; sending?: Sending }
const without = ({ form_token: _gone, ...fields }: Record<string, string>) => fields
/** A browser that says nothing of where a form is from. */
const silent = { headers: { origin: null, 'sec-fetch-site': null } }
const attacks: Record<string, Attack> = {
  'from another site, as its browser says': () => ({ sending: { headers: { 'sec-fetch-site': 'cross-site', origin: null } } }),
  'from a sibling site': () => ({ sending: { headers: { 'sec-fetch-site': 'same-site' } } }),
  'from nowhere': () => ({ sending: { headers: { 'sec-fetch-site': 'none' } } }),
  'from another origin, in a browser that says no more': () => ({
    sending: { headers: { origin: 'https://evil.example', 'sec-fetch-site': null } },
  }),
  'from another port': () => ({ sending: { headers: { origin: 'http://localhost:8080', 'sec-fetch-site': null } } }),
  'from another scheme': () => ({ sending: { headers: { origin: 'https://localhost', 'sec-fetch-site': null } } }),
  'from an origin that hides itself': () => ({ sending: { headers: { origin: 'null', 'sec-fetch-site': null } } }),
  'from an origin that begins alike': () => ({ sending: { headers: { origin: 'http://localhost.evil.example', 'sec-fetch-site': null } } }),
  'without a form token': ({ fields }) => ({ fields: without(fields) }),
  'without a form token, in a browser that says nothing': ({ fields }) => ({ fields: without(fields), sending: silent }),
  'with an empty form token': ({ fields }) => ({ fields: { ...fields, form_token: '' }, sending: silent }),
  "with somebody else's form token": ({ fields }) => ({
    fields: { ...fields, form_token: formOf(other.shown!.text, '/settings/sign-out').hidden['form_token']! },
    sending: silent,
  }),
  'with the form token in the address': ({ path, fields }) => ({
    path: `${path}?form_token=${fields['form_token']}`,
    fields: without(fields),
    sending: silent,
  }),
  'as text, which a form of another site can send': ({ fields }) => ({
    sending: { headers: { ...silent.headers, 'content-type': 'text/plain' }, body: String(new URLSearchParams(fields)) },
  }),
}

describe.each(posts)('a form to $path', ({ path, open }) => {
  test('that is our own is taken', async () => {
    const { visitor, path: to, fields } = await forms[path]!()
    const before = await stored()
    const page = await visitor.post(to, fields)
    expect([200, 303]).toContain(page.status)
    expect(await stored()).not.toBe(before)
  })

  test('is taken from a browser that says nothing of where it is from, by its form token', async () => {
    const { visitor, path: to, fields } = await forms[path]!()
    expect([200, 303]).toContain((await visitor.post(to, fields, silent)).status)
  })

  test.each(Object.keys(attacks))('%s: refused, and nothing is done', async (name) => {
    const ready = await forms[path]!()
    const before = await stored()
    const { path: to = ready.path, fields = ready.fields, sending } = attacks[name]!(ready)
    const page = await ready.visitor.post(to, fields, sending)
    expect([name, page.status]).toEqual([name, name.startsWith('as text') ? 415 : 403])
    expect(page.cookies.size).toBe(0)
    expect(await stored()).toBe(before)
    // And it was the attack alone that was wrong with it.
    expect([200, 303]).toContain((await ready.visitor.post(ready.path, ready.fields)).status)
  })

  if (open) {
    test('that fits a cookie which is no form token of ours is refused', async () => {
      const { visitor, path: to, fields } = await forms[path]!()
      for (const made of ['', 'a', 'x'.repeat(42)]) {
        visitor.jar.set('lk_form', made)
        expect([made, (await visitor.post(to, { ...fields, form_token: made }, silent)).status]).toEqual([made, 403])
      }
      visitor.jar.delete('lk_form')
      expect((await visitor.post(to, fields, silent)).status).toBe(403)
    })
  } else {
    test('without a session leads to signing in, and nothing is done', async () => {
      const { visitor, path: to, fields } = await forms[path]!()
      const before = await stored()
      visitor.jar.delete('lk_session')
      const page = await visitor.post(to, fields)
      expect([page.status, page.location]).toEqual([303, '/settings/sign-in?over'])
      expect(await stored()).toBe(before)
    })
  }

  test('that is larger than any of ours is not read to its end', async () => {
    const { visitor, path: to, fields } = await forms[path]!()
    const before = await stored()
    const page = await visitor.post(to, { ...fields, name: 'x'.repeat(20_000) })
    expect([page.status, textOf(page.text)]).toEqual([413, expect.stringContaining('larger than 16384 bytes')])
    expect(await stored()).toBe(before)
  })

  test.each(['application/json', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencodedx', null])(
    'of the type %s is refused',
    async (type) => {
      const { visitor, path: to, fields } = await forms[path]!()
      const body = new TextEncoder().encode(String(new URLSearchParams(fields))) as never
      expect((await visitor.post(to, fields, { headers: { 'content-type': type }, body })).status).toBe(415)
    },
  )

  test.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS'])('with %s instead is no form', async (method) => {
    const { visitor, path: to, fields } = await forms[path]!()
    const page = await visitor.post(to, fields, { method })
    expect([page.status, page.headers.get('allow')]).toEqual([405, expect.stringMatching(/^(GET, HEAD, )?POST$/)])
  })
})

describe('forged values', () => {
  const lifetimes = [
    '',
    '0',
    '91',
    '1e9',
    'NaN',
    'Infinity',
    '-1',
    '-30',
    '1.5',
    '30.000001',
    'thirty',
    '30 days',
    '9'.repeat(400),
    '0x',
    '\u0663\u0660',
  ]
  test.each(lifetimes)('a lifetime of %j days is refused when a token is chosen and when it is rotated', async (days) => {
    const visitor = await signedIn(service, person)
    const chosen = await visitor.choose(workspaceId, { days })
    expect([chosen.status, textOf(chosen.text)]).toEqual([422, expect.stringContaining('Lifetime in days')])
    expect(chosen.text).toContain('id="days-error"')
    const [id] = await tokenIds(visitor)
    const before = await stored()
    await visitor.open(`/settings/tokens/${workspaceId}/${id}/rotate`)
    expect((await visitor.submit({ days })).status).toBe(422)
    expect(await stored()).toBe(before)
  })

  test.each([
    '',
    'kanban:root',
    'other:read',
    'KANBAN:ADMIN',
    'kanban:read kanban:admin',
    'kanban:read,kanban:admin',
    '__proto__',
    ' kanban:read',
  ])('a scope of %j is refused', async (scope) => {
    const visitor = await signedIn(service, person)
    const before = await stored()
    const page = await visitor.choose(workspaceId, { scope })
    expect([page.status, page.text.includes('id="scope-error"')]).toEqual([422, true])
    expect(await stored()).toBe(before)
  })

  test.each(['', '   ', 'a\nb', 'a\u0000b', 'x'.repeat(101)])('a name of %j is refused', async (name) => {
    const page = await (await signedIn(service, person)).choose(workspaceId, { name })
    expect([page.status, page.text.includes('id="name-error"')]).toEqual([422, true])
  })

  test('what is said in the confirmation again counts for nothing: only what was shown is issued', async () => {
    const visitor = await signedIn(service, person)
    await visitor.choose(workspaceId, { name: 'CI', scope: 'kanban:read', days: '2' })
    const plaintext = plaintextIn(
      await visitor.submit({
        scope: 'kanban:admin',
        scopes: 'kanban:admin',
        days: '90',
        name: 'root',
        workspace: 'wsp_00000000000000000000',
      }),
    )
    const { body } = await service.send(plaintext, 'GET', '/account')
    expect(body.data).toMatchObject({ scopes: ['kanban:read'], token: { name: 'CI' } })
    expect(Date.parse(body.data.token.expires_at)).toBe(service.now + 2 * 24 * 60 * 60 * 1000)
  })

  test('of two values of one name one is shown, and what is shown is what would be issued', async () => {
    const visitor = await signedIn(service, person)
    await visitor.open(`/settings/tokens/new?workspace=${workspaceId}`)
    const { hidden, action } = formOf(visitor.shown!.text)
    const twice = new URLSearchParams({ ...hidden, name: 'CI', days: '30', scope: 'kanban:read' })
    twice.append('scope', 'kanban:admin')
    const page = await visitor.post(action, {}, { body: String(twice) })
    if (page.location === null) expect(page.status).toBe(422)
    else expect(textOf((await visitor.open(page.location)).text)).toContain('kanban:admin')
  })

  test("another person's token, a token of another workspace and one that is not there are one and the same 404", async () => {
    const visitor = await signedIn(service, person)
    const foreign = await service.workspace('Globex')
    const stranger = await service.person(foreign)
    const theirs = await signedIn(service, stranger)
    const colleague = await signedIn(service, await service.person(workspaceId))
    const [own] = await tokenIds(visitor)
    const [strange] = await tokenIds(theirs)
    const [near] = await tokenIds(colleague)
    const form_token = formOf((await visitor.open('/settings/tokens')).text, '/settings/sign-out').hidden['form_token']!
    const before = await stored()
    const seen = new Set<string>()
    for (const [workspace, token] of [
      [workspaceId, near],
      [workspaceId, strange],
      [foreign, strange],
      [foreign, own],
      [workspaceId, 'tok_00000000000000000000'],
      ['wsp_00000000000000000000', own],
      ['global', own],
      [workspaceId, `..%2f${own}`],
      [workspaceId, '%zz'],
      [workspaceId, `${own}%00`],
    ])
      for (const what of ['rotate', 'revoke']) {
        const path = `/settings/tokens/${workspace}/${token}/${what}`
        const got = await visitor.request(path)
        const posted = await visitor.post(path, { form_token, days: '30', password: PASSWORD })
        expect([path, got.status, posted.status]).toEqual([path, 404, 404])
        seen.add(textOf(got.text)).add(textOf(posted.text))
      }
    expect(seen.size).toBe(1)
    expect(await stored()).toBe(before)
  })

  test('a workspace that one is not in, or no longer, has no page, and a token that was chosen in it is not issued', async () => {
    const visitor = await signedIn(service, person)
    const foreign = await service.workspace('Globex')
    await visitor.choose(workspaceId)
    const confirmation = formOf(visitor.shown!.text)
    for (const workspace of [foreign, 'wsp_00000000000000000000', 'global', '', '../x'])
      expect((await visitor.request(`/settings/tokens/new?workspace=${encodeURIComponent(workspace)}`)).status).toBe(404)
    const fields = { ...confirmation.hidden, name: 'CI', scope: 'kanban:read', days: '30' }
    expect((await visitor.post('/settings/tokens/new', { ...fields, workspace: foreign })).status).toBe(404)
    await service.leaveOnly(workspaceId, person.id)
    const before = await stored()
    expect((await visitor.post(confirmation.action, confirmation.hidden)).status).toBe(410)
    expect((await visitor.post('/settings/tokens/new', { ...fields, workspace: workspaceId })).status).toBe(404)
    expect(await stored()).toBe(before)
    expect(textOf((await visitor.open('/settings/tokens')).text)).toContain('You belong to no workspace.')
  })

  test("somebody else's confirmation is none", async () => {
    const visitor = await signedIn(service, person)
    await visitor.choose(workspaceId)
    const { action } = formOf(visitor.shown!.text)
    const form_token = formOf((await other.open('/settings/tokens')).text, '/settings/sign-out').hidden['form_token']!
    expect([(await other.request(action)).status, (await other.post(action, { form_token })).status]).toEqual([410, 410])
    expect((await visitor.submit()).status).toBe(200)
  })
})
