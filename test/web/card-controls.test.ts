import { beforeEach, describe, expect, test } from 'vitest'
import { buildTeam, startForSuite } from '../support/board-team.ts'
import { GIF } from '../support/pictures.ts'
import { decoded, formOf, signedIn, type ReceivedPage, type Visitor } from '../support/visitor.ts'

// The controls of the page of a card, without JavaScript: each is a form, or a link to one.
const service = await startForSuite()
const { owner, visitor, api, base, boardId, columns } = await buildTeam(service)
const mira = await service.person(owner.workspaceId, 'member', 'Mira Patel')
let cardId: string
const create = async (title: string, members = {}): Promise<string> =>
  (await api('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title, ...members })).id
beforeEach(async () => void (cardId = await create('Sow', { description: 'In *rows*.', due_at: '2026-12-24T17:00:30.000Z' })))
const card = () => api('GET', `/cards/${cardId}`)
const cardPath = () => `${base}/cards/${cardId}`

/** The form of a page that performs an operation; where there are several, the one with a text in it. */
function formWith(page: string, operation: string, text: string): { action: string; hidden: Record<string, string> } {
  const action = `${base}/do/${operation}`
  const forms = page
    .split('<form')
    .slice(1)
    .map((part) => `<form${part.split('</form>')[0]}</form>`)
  const found = forms.find((form) => form.includes(`action="${action}"`) && form.includes(text))
  if (found === undefined) throw new Error(`no form of ${operation} with ${text}`)
  return formOf(found, action)
}

/** Presses the button of a form on the page of the card. @returns the page that follows */
async function press(operation: string, fields: Record<string, string> = {}, text = '', from = visitor): Promise<ReceivedPage> {
  const form = formWith((await from.open(cardPath())).text, operation, text)
  const page = await from.post(form.action, { ...form.hidden, ...fields })
  return page.location === null ? page : from.open(page.location)
}

/** The operations that a page offers, as forms and as links to forms. */
const offeredOn = (page: string) => new Set([...page.matchAll(/\/do\/([a-z_.]+)["?]/g)].map(([, operation]) => operation!))

const upload = async (name: string, type: string, bytes: string, changed: Record<string, string> = {}) => {
  const form = formWith((await visitor.open(cardPath())).text, 'attachments.upload', 'name="file"')
  const fields = { ...form.hidden, visibility: 'private', ...changed }
  const parts = Object.entries(fields).map(([key, value]) => `--edge\r\ncontent-disposition: form-data; name="${key}"\r\n\r\n${value}\r\n`)
  const file = `--edge\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: ${type}\r\n\r\n${bytes}\r\n--edge--\r\n`
  return visitor.post(form.action, {}, { headers: { 'content-type': 'multipart/form-data; boundary=edge' }, body: parts.join('') + file })
}
const attachments = () => api('GET', `/cards/${cardId}/attachments`)

describe('each control works by a form and a redirect', () => {
  const [done, back] = [{ completed_at: expect.any(String) }, { completed_at: null }]
  test.each<[operation: string, fields: Record<string, string>, text: string, expected: object]>([
    ['cards.update', { title: 'Sow <b>beans</b>' }, 'name="title"', { title: 'Sow <b>beans</b>' }],
    ['cards.update', { description: '\r\nFirst\r\nsecond' }, 'name="description"', { description: '\nFirst\nsecond' }],
    ['cards.update', { due_at: '2026-12-25T08:30' }, 'name="due_at"', { due_at: '2026-12-25T08:30:00.000Z' }],
    ['cards.update', {}, 'Remove', { due_at: null }],
    ['cards.complete', {}, '', done],
    ['cards.move', { column_id: columns[1]!, to: 'first' }, '', { column_id: columns[1] }],
    ['cards.archive', {}, '', { archived_at: expect.any(String) }],
    ['cards.assign', { user_id: mira.id }, '', { assignee_ids: [mira.id] }],
  ])('%s with %j', async (operation, fields, text, expected) => {
    await press(operation, fields, text)
    expect(await card()).toMatchObject({ title: 'Sow', ...expected })
  })

  test('an action can be taken back', async () => {
    const label = await api('POST', `/boards/${boardId}/labels`, { name: 'urgent"><i>', color: '#cf222e' })
    const other = await create('Dig')
    for (const operation of ['cards.complete', 'cards.archive']) await press(operation)
    await press('cards.restore', {}, 'Restore')
    await press('cards.complete', {}, 'Reopen')
    await press('cards.assign', { user_id: mira.id })
    await press('cards.apply_label', { label_id: label.id })
    await visitor.open(`${base}/do/blockers.add?card_id=${cardId}&back=${cardPath()}`)
    const { shown } = await visitor.submit({ blocker_id: other }, `${base}/do/blockers.add`)
    const expected = { assignee_ids: [mira.id], label_ids: [label.id], blocker_ids: [other], archived_at: null, ...back }
    expect(await card()).toMatchObject(expected)
    for (const name of ['Unassign Mira Patel', 'Remove the label urgent', 'Remove the blocker Dig']) expect(shown).toContain(name)
    for (const operation of ['cards.unassign', 'cards.remove_label', 'blockers.remove']) await press(operation)
    expect(await card()).toMatchObject({ assignee_ids: [], label_ids: [], blocker_ids: [] })
    await api('DELETE', `/labels/${label.id}`)
  })

  test('a blocker is found by its words, wherever it is on a long board', async () => {
    const operations = Array.from({ length: 100 }, (_, i) => ({
      operation: 'cards.create',
      body: { column_id: columns[0], title: `Row ${i}` },
    }))
    await api('POST', `/boards/${boardId}/batch`, { operations })
    const gate = await create('Paint the gâte')
    const address = `${base}/do/blockers.add?card_id=${cardId}&back=${cardPath()}`
    const offered = (page: ReceivedPage) => [...page.text.matchAll(/<option value="(crd_\w+)"/g)].map(([, id]) => id)
    expect(offered(await visitor.open(address))).not.toContain(gate)
    const page = await visitor.open(`${address}&q=${encodeURIComponent('gate PAINT')}`)
    expect(offered(page)).toEqual([gate])
    const { shown } = await visitor.submit({ blocker_id: gate }, `${base}/do/blockers.add`)
    expect({ shown, ids: (await card()).blocker_ids }).toEqual({ shown: expect.stringContaining('Paint the gâte'), ids: [gate] })
    expect((await visitor.open(`${address}&q=x<b>y`)).shown).toContain('No other card here has “x<b>y” in its title or description.')
    // A text without a word, and one that is too long, find as the search of a board does.
    for (const q of ['"', 'gate '.repeat(1000)]) expect((await visitor.request(`${address}&q=${encodeURIComponent(q)}`)).status).toBe(200)
  })

  test('a script gets the cards that a search finds, each with the form that adds it, if the person may read the card', async () => {
    const [gate, fence] = [await create('Gate of oak'), await create('Fence of oak')]
    await api('PUT', `/cards/${cardId}/blockers/${gate}`)
    const choices = (q: string, who = visitor) => who.request(`${cardPath()}/choices/blockers?q=${encodeURIComponent(q)}`)
    const choice = (text: string, isChosen: boolean, operation: string, id: string) => ({
      text,
      isChosen,
      operation,
      fields: { card_id: cardId, blocker_id: id },
    })
    expect(JSON.parse((await choices('OAK of')).text)).toEqual({
      choices: [choice('Gate of oak', true, 'blockers.remove', gate), choice('Fence of oak', false, 'blockers.add', fence)],
    })
    expect(JSON.parse((await choices('sow elm')).text)).toEqual({ choices: [] })
    const stranger = await signedIn(service, await service.person(owner.workspaceId, 'member'))
    for (const [visibility, status] of [
      ['workspace', 200],
      ['private', 404],
      ['workspace', 200],
    ]) {
      await api('PUT', `/boards/${boardId}/visibility`, { visibility })
      expect([visibility, (await choices('oak', stranger)).status]).toEqual([visibility, status])
    }
  })

  test('a form that changes nothing changes nothing, not even the seconds of a due time or an empty first line', async () => {
    await api('PATCH', `/cards/${cardId}`, { description: '\n\nBelow' })
    const before = await card()
    await press('cards.update', { due_at: '2026-12-24T17:00' }, 'name="due_at"')
    const page = (await visitor.open(cardPath())).text
    // As browsers read it: the first line break of a textarea is not part of its text.
    const shown = decoded(/<textarea [^>]*name="description"[^>]*>(.*?)<\/textarea>/s.exec(page)![1]!).replace(/^\n/, '')
    expect(shown).toBe('\n\nBelow')
    await press('cards.update', { description: shown.replaceAll('\n', '\r\n') }, 'name="description"')
    expect(await card()).toEqual(before)
  })

  test('subtasks are added, ticked and moved', async () => {
    await press('subtasks.create', { title: 'Dig' })
    await press('subtasks.create', { title: 'Water' })
    await press('subtasks.update', {}, 'role="checkbox"')
    const page = await press('subtasks.update', {}, 'Move down')
    const subtasks = await api('GET', `/cards/${cardId}/subtasks`)
    expect(subtasks.map((one: any) => [one.title, one.completed_at !== null])).toEqual([
      ['Water', false],
      ['Dig', true],
    ])
    expect(page.shown).toContain('1 of 2')
  })

  test('comments are written and edited, and a refusal keeps the text', async () => {
    await press('comments.create', { body: 'One **two**' })
    const [comment] = await api('GET', `/cards/${cardId}/comments`)
    service.now += 1000
    await visitor.open(`${base}/do/comments.update?comment_id=${comment.id}&back=${cardPath()}`)
    const page = await visitor.submit({ body: 'Three' }, `${base}/do/comments.update`)
    expect(page.shown).toMatch(/, edited Edit/)
    // Words of an agent that its person has changed are marked.
    const ofAgent = await api('POST', `/cards/${cardId}/comments`, { body: 'By an agent' })
    await visitor.open(`${base}/do/comments.update?comment_id=${ofAgent.id}&back=${cardPath()}`)
    expect((await visitor.submit({ body: 'By both' }, `${base}/do/comments.update`)).shown).toMatch(/, edited by \S.* By both/)
    expect(await api('GET', `/comments/${ofAgent.id}`)).toMatchObject({ token_id: ofAgent.token_id, edited_by: 'person' })
    await api('PATCH', `/comments/${comment.id}`, { body: 'Four' })
    expect((await visitor.open(cardPath())).shown).toMatch(/, edited by an agent .*Four/)
    const refused = await press('comments.create', { body: 'x'.repeat(20_001) })
    expect({ status: refused.status, keepsText: refused.text.includes('x'.repeat(20_001)) }).toEqual({ status: 422, keepsText: true })
  })
})

describe('a file', () => {
  test('is attached, becomes the cover, and is detached', async () => {
    // Browsers write quotes in the name of a file as %22, and everything else in UTF-8.
    expect((await upload('Plan %22A%22 für <b>.png', 'image/gif', GIF)).status).toBe(303)
    const [attachment] = await attachments()
    expect(attachment).toMatchObject({ content_type: 'image/gif', visibility: 'private', size: GIF.length })
    expect(attachment.name).toMatch(/^Plan .*A.* für <b>\.png$/)
    const { text, shown } = await visitor.open(cardPath())
    expect(text).not.toContain('für <b>')
    expect(shown).toContain('für <b>.png')
    await press('cards.set_cover')
    expect((await card()).cover_attachment_id).toBe(attachment.id)
    await press('cards.clear_cover')
    expect((await card()).cover_attachment_id).toBeNull()
    await visitor.open(`${base}/do/attachments.detach?attachment_id=${attachment.id}&back=${cardPath()}`)
    await visitor.submit({}, `${base}/do/attachments.detach`)
    expect(await attachments()).toEqual([])
  })

  test('that is too large is refused, with the form and what was wrong', async () => {
    const page = await upload('large.bin', 'application/octet-stream', 'x'.repeat(25 * 1024 * 1024 + 1))
    expect({ status: page.status, cardId: formOf(page.text, `${base}/do`).hidden['card_id'] }).toEqual({ status: 413, cardId })
    expect(await attachments()).toEqual([])
  })

  test('of a form with a wrong token is refused, and nothing is stored', async () => {
    const blobs = await service.blobKeys()
    expect((await upload('a.txt', 'text/plain', 'a', { form_token: 'x'.repeat(43) })).status).toBe(403)
    expect({ attachments: await attachments(), blobKeys: await service.blobKeys() }).toEqual({ attachments: [], blobKeys: blobs })
  })
})

describe('a change by somebody else at the same time', () => {
  const submit = async (text: string, other: object, fields: Record<string, string>) => {
    const form = formWith((await visitor.open(cardPath())).text, 'cards.update', text)
    await api('PATCH', `/cards/${cardId}`, other, mira)
    return visitor.post(form.action, { ...form.hidden, ...fields })
  }

  test('is shown beside the text that was written, and neither is lost', async () => {
    const page = await submit('name="description"', { description: 'By <Mira>' }, { description: 'By Olivia' })
    expect({ status: page.status, description: (await card()).description }).toEqual({ status: 412, description: 'By <Mira>' })
    expect(page.text).toMatch(/<textarea[^>]*>By Olivia<\/textarea>/)
    expect(page.shown).toContain('It is now: By <Mira>')
    visitor.page = page
    await visitor.submit({ description: 'By both' }, `${base}/do/cards.update`)
    expect((await card()).description).toBe('By both')
  })

  /** What the fields of a page have. */
  const written = (text: string) =>
    Object.fromEntries([
      ...[...text.matchAll(/<textarea[^>]*name="(\w+)"[^>]*>([^<]*)</g)].map(([, name, value]) => [name, value]),
      ...[...text.matchAll(/<input(?! type="hidden")[^>]*name="(\w+)"[^>]*value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    ])
  const PLAN = 'Sow the beans in May.\nWater them every day.'

  test('says who made it and when, marks what differs, and merges what does not collide', async () => {
    await api('PATCH', `/cards/${cardId}`, { description: PLAN })
    const page = await submit('name="description"', { description: PLAN.replace('May', 'June') }, { description: `${PLAN}\nWeed.` })
    const merged = `${PLAN.replace('May', 'June')}\nWeed.`
    expect(page.text).toMatch(new RegExp(`<textarea[^>]*>${merged}</textarea>`))
    expect(page.shown).toMatch(/test of Mira \w+ changed the description at \d{4}-\d\d-\d\d \d\d:\d\d UTC\./)
    expect(page.shown).toContain('Both changes are in the field.')
    expect(page.text).toContain('<mark>\nWeed.</mark>')
    expect((await card()).description).toBe(PLAN.replace('May', 'June'))
    visitor.page = page
    await visitor.submit(written(page.text), `${base}/do/cards.update`)
    expect((await card()).description).toBe(merged)
  })

  test('that collides with what was written leaves that in the field, and keeps theirs elsewhere', async () => {
    await api('PATCH', `/cards/${cardId}`, { description: PLAN })
    const theirs = PLAN.replace('May', 'June').replace('Water', 'Shower')
    const page = await submit('name="description"', { description: theirs }, { description: PLAN.replace('May', 'July') })
    expect(page.text).toMatch(new RegExp(`<textarea[^>]*>${theirs.replace('June', 'July')}</textarea>`))
    expect(page.shown).toContain('Both of you have changed the same words')
    expect(page.text).toContain('<mark>June</mark>')
    expect(page.text).toContain('<mark>July</mark>')
  })

  test('of a whole form leaves what only one has changed as that one has it', async () => {
    await api('PATCH', `/cards/${cardId}`, { title: 'Plan', description: PLAN })
    const { text } = await visitor.open(`${base}/do/cards.update?card_id=${cardId}`)
    const { action, hidden } = formOf(text, `${base}/do/cards.update`)
    await api('PATCH', `/cards/${cardId}`, { title: 'By Mira', description: 'By Mira', due_at: '2030-01-01T10:00:00Z' }, mira)
    const page = await visitor.post(action, { ...hidden, title: 'Plan', description: 'By Olivia', due_at: '' })
    expect(page.status).toBe(412)
    visitor.page = page
    await visitor.submit(written(page.text), `${base}/do/cards.update`)
    expect(await card()).toMatchObject({
      title: 'By Mira',
      description: 'By Olivia',
      due_at: expect.stringMatching(/^2030-01-01T10:00:00/),
    })
  })

  test('with texts that differ too much shows both', async () => {
    const text = (word: string) => Array.from({ length: 400 }, (_, i) => `${word} ${i}`).join('\n')
    await api('PATCH', `/cards/${cardId}`, { description: text('a') })
    const page = await submit('name="description"', { description: text('b') }, { description: text('c') })
    expect(page.shown).toContain('The texts differ too much to be merged')
    expect(page.text).not.toContain('<mark>')
    expect([page.text.includes(text('b')), page.text.includes(text('c'))]).toEqual([true, true])
  })

  test('is said when it was kept beside what was saved, and a change of the person alone is not', async () => {
    const said = async (response: { location?: string | null } & object) => (await visitor.open((response as any).location)).shown
    const page = await submit('name="title"', { description: 'Kept' }, { title: 'Saved' })
    expect(await said(page)).toMatch(/Saved\. test of Mira \w+ changed the description meanwhile: both changes are kept\./)
    const form = formWith((await visitor.open(cardPath())).text, 'cards.update', 'name="title"')
    const other = formWith((await visitor.open(cardPath())).text, 'cards.update', 'name="description"')
    await visitor.post(other.action, { ...other.hidden, description: 'My own' })
    expect(await said(await visitor.post(form.action, { ...form.hidden, title: 'Mine, too' }))).not.toContain('meanwhile')
  })

  test('is no conflict if it concerns another member', async () => {
    const page = await submit('name="title"', { description: 'By Mira' }, { title: 'By Olivia' })
    expect({ status: page.status, card: await card() }).toEqual({
      status: 303,
      card: expect.objectContaining({ title: 'By Olivia', description: 'By Mira' }),
    })
  })
})

describe('only allowed controls are offered', () => {
  const OFFERED =
    'cards.update cards.move cards.complete cards.archive cards.delete cards.assign blockers.add subtasks.create comments.create attachments.upload'.split(
      ' ',
    )

  test.each(['owner', 'admin', 'member'] as const)('to a person with the role %s', async (role) => {
    const from = await signedIn(service, await service.person(owner.workspaceId, role))
    await api('POST', `/cards/${cardId}/comments`, { body: 'Of the owner' })
    const before = offeredOn((await from.open(cardPath())).text)
    expect([...before]).toEqual(expect.arrayContaining(OFFERED))
    expect({ update: before.has('comments.update'), delete: before.has('comments.delete') }).toEqual({ update: false, delete: false })
    await press('comments.create', { body: 'Own' }, '', from)
    const { text } = await from.open(cardPath())
    expect([...text.matchAll(/\/do\/comments\.(?:update|delete)\?/g)]).toHaveLength(2)
  })

  test('to nobody without access to the board, not even by a form that they had before', async () => {
    const from = await signedIn(service, mira)
    const form = formWith((await from.open(cardPath())).text, 'cards.update', 'name="title"')
    await api('PUT', `/boards/${boardId}/visibility`, { visibility: 'private' })
    const answers = [await from.open(cardPath()), await from.post(form.action, { ...form.hidden, title: 'Taken' })]
    expect({ statuses: answers.map(({ status }) => status), title: (await card()).title }).toEqual({ statuses: [404, 404], title: 'Sow' })
    await api('PUT', `/boards/${boardId}/visibility`, { visibility: 'workspace' })
  })

  test('of a file, to those who have access to it', async () => {
    await upload('a.gif', 'image/gif', GIF)
    const ofFile = ['attachments.detach', 'cards.set_cover', 'files.update']
    const offeredTo = async (from: Visitor) => {
      const offered = offeredOn((await from.open(cardPath())).text)
      return ofFile.filter((operation) => offered.has(operation))
    }
    expect([await offeredTo(visitor), await offeredTo(await signedIn(service, mira))]).toEqual([ofFile, []])
  })

  test('a claimed card says so to those who could change it', async () => {
    await api('PUT', `/cards/${cardId}/claim`, { ttl: 600 }, mira)
    const until = new Date(service.now + 600_000).toISOString().slice(0, 16).replace('T', ' ')
    const page = (await visitor.open(cardPath())).shown
    expect(page).toContain(`test of Mira Patel is at work on this card until ${until} UTC`)
  })

  test('a claim is ended by a person, unless another one has taken its place since', async () => {
    const claimed = async () => (await api('GET', `/cards/${cardId}/claim`)) as { epoch: number } | null
    await api('PUT', `/cards/${cardId}/claim`, { ttl: 600 }, mira)
    const page = await visitor.open(cardPath())
    const old = page.text
    await api('DELETE', `/cards/${cardId}/claim`, undefined, mira)
    await api('PUT', `/cards/${cardId}/claim`, { ttl: 600 }, mira)
    const end = '/do/claims.release'
    const asked = await visitor.submit({}, `${base}${end}`)
    expect({ status: asked.status, shown: asked.shown }).toEqual({
      status: 409,
      shown: expect.stringContaining('test of Mira Patel has claimed this card until'),
    })
    expect(await claimed()).not.toBeNull()
    await visitor.submit({}, `${base}${end}`)
    expect(await claimed()).toBeNull()
    expect(offeredOn(old)).toContain('claims.release')
    expect(offeredOn((await visitor.open(cardPath())).text)).not.toContain('claims.release')
  })
})

test('hostile texts stay texts, in every control', async () => {
  const hostile = '"></textarea></option></select><script>alert(1)</script><img src=x onerror=alert(1)>'
  const label = await api('POST', `/boards/${boardId}/labels`, { name: hostile.slice(0, 40), color: '#cf222e' })
  await service.person(owner.workspaceId, 'member', hostile.slice(0, 60))
  await api('PATCH', `/cards/${cardId}`, { title: hostile, description: `![x](https://evil.example/x.png) ${hostile}` })
  await api('PUT', `/cards/${cardId}/labels/${label.id}`)
  await api('POST', `/cards/${cardId}/subtasks`, { title: hostile })
  await api('POST', `/cards/${cardId}/comments`, { body: hostile })
  await api('PUT', `/cards/${cardId}/blockers/${await create(hostile)}`)
  const { text } = await visitor.open(cardPath())
  expect(text).not.toMatch(/<script>|<img src=x|<img[^>]*evil|"><\/textarea><\/option>/)
  expect(text.split('&lt;script>alert(1)').length).toBeGreaterThan(8)
  expect((await visitor.open(`${base}/do/blockers.add?card_id=${cardId}`)).text).not.toMatch(/<script>|<img src=x/)
})
