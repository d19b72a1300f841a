import { beforeAll, beforeEach, expect, test } from 'vitest'
import { unmaskFormToken } from '../../src/auth/accounts/form-token.ts'
import { DAY } from '../../src/model/time.ts'
import { TestBoard } from '../support/board.ts'
import { Service, type Person } from '../support/service.ts'
import { formOf, signedIn, type Visitor } from '../support/visitor.ts'

const service = await Service.forSuite()
const workspaceId = await service.workspace()
let [ann, ben]: Person[] = []
let board: TestBoard
let cardId: string
let visitor: Visitor
/** The form of a comment, as the page of the card had it in a session that has ended. */
let form: Record<string, string>
const action = `/app/${workspaceId}/do/comments.create`

beforeAll(async () => {
  ;[ann, ben] = [await service.person(workspaceId), await service.person(workspaceId)]
  await signedIn(service, ben!)
  board = await TestBoard.create(service, ann!)
  cardId = await board.card(await board.column())
})

beforeEach(async () => {
  visitor = await signedIn(service, ann!)
  const { text } = await visitor.open(`/app/${workspaceId}/cards/${cardId}`)
  form = { ...formOf(text, action).hidden, body: 'Half a page, “written” by hand' }
})

const signInAs = (person: Person) => visitor.signIn(`${person.id}@example.org`)
const comments = async () => (await board.get(`/cards/${cardId}/comments`)).body.data.map(({ body }: { body: string }) => body)
const script = { headers: { accept: 'application/json' } }

const ends: Readonly<Record<string, () => unknown>> = {
  'a session that was ended in another tab': () => visitor.submit({}, '/settings/sign-out'),
  'a session that nobody used for eight days': () => (service.now += 8 * DAY),
}

test.each(Object.entries(ends))('a form of %s is shown again with what was written, and can then be sent', async (_what, end) => {
  const before = await comments()
  await end()
  await signInAs(ann!)
  const shown = await visitor.post(action, form)
  expect({ status: shown.status, told: shown.shown.includes('send it once more'), comments: await comments() }).toEqual({
    status: 403,
    told: true,
    comments: before,
  })
  visitor.page = shown
  const { hidden } = formOf(shown.text, action)
  expect(shown.text).toContain('>Half a page, “written” by hand</textarea>')
  const sent = await visitor.post(action, { ...form, ...hidden })
  expect([sent.status, (await comments()).length]).toEqual([303, before.length + 1])
})

test('the script of the page gets the form token of the present session, once its person has signed in again', async () => {
  await visitor.submit({}, '/settings/sign-out')
  await signInAs(ann!)
  const before = await comments()
  const answer = await visitor.post(action, form, script)
  const { form_token } = JSON.parse(answer.text)
  expect([answer.status, unmaskFormToken(form_token), await comments()]).toEqual([403, unmaskFormToken(visitor.formToken), before])
  expect((await visitor.post(action, { ...form, form_token }, script)).status).toBe(200)
  expect((await comments()).length).toBe(before.length + 1)
})

test('a form without a text leads back to its page', async () => {
  const path = `/app/${workspaceId}/notices`
  await visitor.submit({}, '/settings/sign-out')
  await signInAs(ann!)
  const { status, text, shown } = await visitor.post(path, { form_token: form['form_token']!, id: 'ntc_1' })
  expect({ status, shown, leadsBack: text.includes(`href="${path}">Open the page again</a>`) }).toEqual({
    status: 403,
    shown: expect.stringContaining('you have signed in again since'),
    leadsBack: true,
  })
})

test('another person cannot send what somebody else has written, and gets no token for it', async () => {
  const before = await comments()
  await visitor.submit({}, '/settings/sign-out')
  await signInAs(ben!)
  const [page, answer] = [await visitor.post(action, form), await visitor.post(action, form, script)]
  expect([page.status, page.text.includes('Half a page'), answer.status]).toEqual([403, false, 403])
  expect(JSON.parse(answer.text)).toEqual({ error: expect.stringContaining('somebody else has signed in here') })
  expect(await comments()).toEqual(before)
})

test.each([
  ['another site', { origin: 'https://evil.example' }],
  ['another site, as the browser says', { 'sec-fetch-site': 'cross-site' }],
  ['another host of the site', { 'sec-fetch-site': 'same-site' }],
  ['a place that the browser does not name', { origin: null, 'sec-fetch-site': null }],
  ['a document without an origin', { origin: 'null' }],
])('a form of %s is refused, and is not shown again', async (_place, headers: Record<string, string | null>) => {
  const before = await comments()
  await visitor.submit({}, '/settings/sign-out')
  await signInAs(ann!)
  for (const accept of ['text/html', 'application/json']) {
    const { status, text } = await visitor.post(action, form, { headers: { ...headers, accept } })
    expect([status, text.includes('Half a page'), text.includes('form_token')]).toEqual([403, false, false])
  }
  expect(await comments()).toEqual(before)
})
