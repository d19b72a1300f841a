import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { pages } from '../../src/web/pages.ts'
import { accountForms } from '../support/account-forms.ts'
import { attacks, formTokenOf, oldBrowser, readStore } from '../support/form-attacks.ts'
import { memory } from '../support/memory.ts'
import { Service, type Person } from '../support/service.ts'
import { signedIn } from '../support/visitor.ts'

let service: Service
let workspaceId: string
let person: Person
let foreignToken: string
beforeAll(async () => {
  service = await Service.start(memory, { proxies: 1 })
  workspaceId = await service.workspace()
  const other = await signedIn(service, await service.person(workspaceId))
  foreignToken = formTokenOf(other)
})
afterAll(() => service.stop())
beforeEach(async () => {
  person = await service.person(workspaceId)
})

const stored = () => readStore(service, workspaceId)
const forms = accountForms(
  () => service,
  () => person,
)

describe.each(Object.keys(forms))('the form of %s', (path) => {
  const { anonymous } = pages.find((page) => page.path === path)!

  test('every attack is refused and changes nothing, and the genuine form is accepted after them', async () => {
    const genuine = await forms[path]!()
    const before = await stored()
    for (const [name, attack] of Object.entries(attacks)) {
      const { path: target = genuine.path, fields = genuine.fields, options } = attack(genuine, foreignToken)
      const page = await genuine.visitor.post(target, fields, options)
      expect([name, page.status, page.cookies.size]).toEqual([name, name.startsWith('as text/plain') ? 415 : 403, 0])
      expect([name, (await stored()) === before]).toEqual([name, true])
    }
    expect([200, 303]).toContain((await genuine.visitor.post(genuine.path, genuine.fields)).status)
    expect(await stored()).not.toBe(before)
  })

  test('the form of an old browser is accepted by its form token, and no other method is', async () => {
    const { visitor, path: target, fields } = await forms[path]!()
    for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      expect([method, (await visitor.post(target, fields, { method })).status]).toEqual([method, 405])
    expect([200, 303]).toContain((await visitor.post(target, fields, oldBrowser)).status)
  })

  test('another browser cannot send the form', async () => {
    const { path: target, fields } = await forms[path]!()
    const stranger = await signedIn(service, await service.person(workspaceId))
    const before = await stored()
    const page = await stranger.post(target, fields)
    expect([page.status, (await stored()) === before]).toEqual([403, true])
  })

  if (!anonymous)
    test('without a session the form leads to the sign-in page', async () => {
      const { visitor, path: target, fields } = await forms[path]!()
      for (const name of visitor.jar.keys()) visitor.jar.delete(name)
      expect((await visitor.post(target, fields)).location).toMatch(/^\/settings\/sign-in/)
    })
})
