import { describe, expect, test } from 'vitest'
import type { Work } from '../../src/model/work.ts'
import type { BoardUpdate } from '../../src/web/boards/board-update.ts'
import { readQuestions } from '../../src/web/boards/questions.ts'
import { tileHtml } from '../../src/web/boards/tile.ts'
import { badgeOf, firstWords } from '../../src/web/boards/work.ts'
import { startAgent, type Agent } from '../support/agent.ts'
import { buildTeam, startForSuite, type BoardTeam } from '../support/board-team.ts'
import { edit } from '../support/other-policy.ts'
import { load, shippedFiles } from '../support/policy.ts'
import type { Service } from '../support/service.ts'
import { formOf, signedIn, textOf, type Visitor } from '../support/visitor.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const work = (state: Work['state'], more: Partial<Work> = {}): Work => {
  return { state, attempts: 0, reason: null, failed_at: null, not_before: null, question_id: null, ...more }
}
const later = new Date(NOW + 225_000).toISOString()

test.each([
  [work('ready'), undefined],
  [work('ready', { attempts: 1 }), 'failed: Failed once'],
  [work('claimed', { attempts: 2 }), 'failed: Failed twice'],
  [work('blocked'), 'blocked: Blocked'],
  [work('blocked', { attempts: 3 }), 'blocked: Blocked, failed 3 times'],
  [work('retrying', { attempts: 3, not_before: later }), 'retrying: Failed 3 times in 4 minutes'],
  [work('stuck', { attempts: 5 }), 'stuck: Stuck after 5 attempts'],
  [work('stuck', { attempts: 1 }), 'stuck: Stuck after 1 attempt'],
  [work('waiting'), 'waiting: Asks: Blue or green?'],
  [work('waiting', { attempts: 2 }), 'waiting: Asks: Blue or green?'],
  [work('done', { attempts: 2 }), undefined],
  [work('archived', { attempts: 2 }), undefined],
])('the badge of %j is %s', (of, expected) => {
  const badge = badgeOf({ work: of }, 'Blue\n\n  or green?', NOW)
  expect(badge && `${badge.look}: ${badge.text}${badge.distance === undefined ? '' : ` ${badge.distance}`}`).toBe(expected)
})

test('tiles of the same distance are rendered once, and others anew', () => {
  const waits = work('retrying', { attempts: 1, not_before: later })
  const card = { id: 'one', title: 'Sow', description: '', label_ids: [], assignee_ids: [], due_at: null, work: waits }
  const facts = { base: '', labelOf: () => undefined, nameOf: () => '', holderOf: () => undefined, questionOf: () => undefined }
  const at = (now: number) => tileHtml(card as never, { ...facts, now })
  expect(at(NOW)).toBe(at(NOW + 1000))
  expect(at(NOW)).not.toBe(at(NOW + 60_000))
})

test('the first words of a text are whole, unless there is no space, and no character is cut', () => {
  expect(firstWords('one two three', 9)).toBe('one two…')
  expect(firstWords('one two', 7)).toBe('one two')
  expect(firstWords('x'.repeat(100), 5)).toBe('xxxxx…')
  expect(firstWords('😀'.repeat(10), 3)).toBe('😀😀😀…')
})

interface World extends BoardTeam {
  readonly service: Service
  readonly agent: Agent
  readonly boardPath: string
  create(title: string, members?: object): Promise<string>
}

async function buildWorld(options = {}): Promise<World> {
  const service = await startForSuite(options)
  const team = await buildTeam(service)
  const create = async (title: string, members: object = {}): Promise<string> =>
    (await team.api('POST', `/boards/${team.boardId}/cards`, { column_id: team.columns[0], title, ...members })).id
  return { ...team, service, create, agent: startAgent(service, team.owner), boardPath: `${team.base}/boards/${team.boardId}` }
}

const tileOn = (html: string, id: string) => new RegExp(`<li [^>]*id="${id}"[^]*?</li>`).exec(html)?.[0] ?? ''
const badgeOn = (html: string) => textOf(/<p class="work [^]*?<\/p>/.exec(html)?.[0] ?? '')
const isMarked = (html: string) => /<script>|<b>/.test(html)

describe('the state of the work', async () => {
  const world = await buildWorld()
  const { service, visitor, agent, api, base, boardId, boardPath, columns, create } = world
  const pageOf = async (id: string, query = '', from = visitor) => (await from.request(`${base}/cards/${id}${query}`)).text
  const tileOf = async (id: string) => tileOn((await visitor.request(boardPath)).text, id)
  const factOf = (html: string) => textOf(/<dd id="fact-work"[^]*?<\/dd>/.exec(html)?.[0] ?? '')
  const untilOf = (html: string) => /data-until="([^"]+)"/.exec(html)?.[1]

  test('stands on tiles, on lists of cards and on the page of a card, which change with the time', async () => {
    const id = await create('Sow')
    expect({ badge: badgeOn(await tileOf(id)), fact: factOf(await pageOf(id)) }).toEqual({ badge: '', fact: 'Ready' })
    await agent.fail(id, 'The <b>tests</b> are red:\n3 of 214', 240)
    const tile = await tileOf(id)
    const at = new Date(service.now + 240_000).toISOString()
    expect({ badge: badgeOn(tile), until: untilOf(tile) }).toEqual({ badge: 'Failed once, again in 4 minutes', until: at })
    const found = (await visitor.request(`${base}/cards?q=sow`)).text
    expect(badgeOn(found)).toBe('Failed once, again in 4 minutes')
    const page = await pageOf(id)
    expect(factOf(page)).toContain('Failed once, again in 4 minutes The <b>tests</b> are red: 3 of 214 The last attempt failed')
    expect({ page, isMarked: isMarked(page), until: untilOf(page) }).toEqual({
      page: expect.stringContaining('The &lt;b>tests&lt;/b> are red:\n3 of 214'),
      isMarked: false,
      until: at,
    })
    // A tile of the same distance is the same.
    service.now += 1000
    expect(await tileOf(id)).toBe(tile)
    service.now += 239_000
    const html = (await visitor.request(boardPath)).text
    expect({ badge: badgeOn(tileOn(html, id)), until: untilOf(tileOn(html, id)) }).toStrictEqual({ badge: 'Failed once', until: undefined })
    expect(factOf(await pageOf(id))).toContain('Ready Failed once')
  })

  test('of a claim that runs out is another one at the next look, without a change', async () => {
    await api('PATCH', `/columns/${columns[1]}`, { max_attempts: 1 })
    const id = await create('Dig', { column_id: columns[1] })
    await agent.claim(id)
    const after = /data-after="([^"]+)"/.exec((await visitor.request(boardPath)).text)![1]!
    service.now += 600_000
    const update = JSON.parse((await visitor.request(`${boardPath}/changes?after=${after}&card=${id}`)).text) as BoardUpdate
    expect({ changes: update.changes, badge: badgeOn(update.tiles[id]!.html) }).toEqual({ changes: [], badge: 'Stuck after 1 attempt' })
    expect(factOf(await pageOf(id))).toMatch(/^Stuck after 1 attempt The claim ran out\. The last attempt failed .* Retry/)
    // The next claim is not said to have failed.
    await api('POST', `/cards/${id}/retry`)
    await agent.claim(id)
    const next = JSON.parse((await visitor.request(`${boardPath}/changes?after=${after}`)).text) as BoardUpdate
    expect(next.changes.map(({ action }) => action)).toEqual(['retried', 'claimed'])
  })

  test('a question is cut on a tile, whole on the page of the card, and read only of cards that wait', async () => {
    const question = `Which <b>logo</b>?\nThe blue one, or ${'the green one, '.repeat(20)}`
    const id = await create('Logo')
    await create('Other')
    await agent.ask(id, question)
    const tile = await tileOf(id)
    expect(badgeOn(tile)).toMatch(/^Asks: Which <b>logo<\/b>\? The blue one, or .{20,60}…$/)
    const page = await pageOf(id)
    expect(page).toContain('Which &lt;b>logo&lt;/b>?\nThe blue one')
    expect({ tile: isMarked(tile), page: isMarked(page) }).toEqual({ tile: false, page: false })
    expect(textOf(page)).toMatch(/Waits for an answer test of Olivia Stone asked .* UTC Which <b>logo/)
    const asked: unknown[] = []
    const find = async (...of: unknown[]) => void asked.push(of)
    const cards = [{ work: work('waiting', { question_id: 'one' }) }, { work: work('ready') }, { work: work('stuck') }, {}]
    await readQuestions({ find } as never, cards as never)
    expect(asked).toEqual([['comments.read', { comment_id: 'one' }]])
  })

  test.each([
    ['stuck', 'Stuck card'],
    ['retrying', 'Retrying card'],
    ['waiting', 'Waiting card'],
    ['blocked', 'Blocked card'],
    ['claimed', 'Claimed card'],
    ['ready', 'Ready card'],
  ])('filters boards, their updates and searches: %s', async (state, title) => {
    const after = /data-after="([^"]+)"/.exec((await visitor.request(boardPath)).text)![1]!
    const made = new Map<string, string>()
    for (const name of ['Stuck', 'Retrying', 'Waiting', 'Blocked', 'Claimed', 'Ready'])
      made.set(name, await create(`${name} card of ${state}s`, name === 'Blocked' ? { blocker_ids: [made.get('Stuck')!] } : {}))
    for (let i = 0; i < 5; i++) await agent.fail(made.get('Stuck')!, 'Again', 0)
    await agent.fail(made.get('Retrying')!, 'Again', 3600)
    await agent.ask(made.get('Waiting')!, 'What?')
    await agent.claim(made.get('Claimed')!)
    const query = `work=${state}&q=${encodeURIComponent(`card ${state}s`)}`
    const titles = (html: string, name: string) =>
      [...html.matchAll(new RegExp(`class="${name}"[^>]*>([^<]*)<`, 'g'))].map(([, one]) => one)
    const [board, found] = [await visitor.request(`${boardPath}?${query}`), await visitor.request(`${base}/cards?${query}&view=recent`)]
    expect({ board: titles(board.text, 'tile-title'), found: titles(found.text, 'found-title') }).toEqual({
      board: [`${title} of ${state}s`],
      found: [`${title} of ${state}s`],
    })
    expect({ board: board.text, found: found.text }).toEqual({
      board: expect.stringContaining('data-whole'),
      found: expect.stringContaining(`<option value="${state}" selected`),
    })
    const update = JSON.parse((await visitor.request(`${boardPath}/changes?after=${after}&${query}`)).text) as BoardUpdate
    expect(Object.entries(update.tiles).flatMap(([id, tile]) => (tile === null ? [] : [id]))).toEqual([made.get(title.split(' ')[0]!)])
  })

  test('filters nothing if it is unknown', async () => {
    const all = (await visitor.request(boardPath)).text.match(/class="tile-title"/g)!.length
    for (const query of ['work=nonsense', 'work=done', 'work=constructor'])
      expect([query, (await visitor.request(`${boardPath}?${query}`)).text.match(/class="tile-title"/g)!.length]).toEqual([query, all])
  })

  test('the history has the reasons of all attempts, and names nobody for a claim that ran out', async () => {
    const id = await create('History')
    await agent.fail(id, 'First\nreason <b>', 0)
    service.now += 1000
    await agent.claim(id)
    service.now += 600_000
    await agent.claim(id)
    await agent.ask(id, 'Go on?', false)
    service.now += 1000
    await api('POST', `/cards/${id}/answer`, { body: 'Yes.' })
    service.now += 1000
    for (const reason of ['Third', 'Fourth', 'Fifth']) await agent.fail(id, reason, 0)
    await api('POST', `/cards/${id}/retry`)
    const section = /<section id="card-history".*?<\/section>/s.exec(await pageOf(id, '?history'))![0]
    const lines = [...section.matchAll(/<li>(.*?)<\/li>/gs)].map(([, line]) => textOf(line!.replace(/<time.*?<\/time>/s, '')))
    const by = 'test of Olivia Stone'
    expect(lines).toEqual([
      `${by} let the card be tried again`,
      `${by} failed (attempt 5) and left the card stuck: Fifth`,
      `${by} claimed the card`,
      `${by} failed (attempt 4): Fourth`,
      `${by} claimed the card`,
      `${by} failed (attempt 3): Third`,
      `${by} claimed the card`,
      `${by} answered the question`,
      `${by} asked a question`,
      `${by} claimed the card`,
      'its claim ran out (attempt 2)',
      `${by} claimed the card`,
      `${by} failed (attempt 1): First reason <b>`,
      `${by} claimed the card`,
      `${by} created the card`,
    ])
  })

  test('comments that are questions and answers say so', async () => {
    const id = await create('Comments')
    const question = await agent.ask(id, 'Go on?')
    service.now += 1000
    await api('POST', `/cards/${id}/answer`, { body: 'Yes.' })
    service.now += 1000
    await api('POST', `/cards/${id}/comments`, { body: 'Plain.' })
    const html = await pageOf(id)
    const list = [...html.matchAll(/<li id="cmt_[^]*?<\/li>/g)].map(([one]) =>
      textOf(one.replace(/<time.*?<\/time>/s, '').replace(/<span class="comment-actions">[^]*?<\/span> ?<\/p>/, '')),
    )
    expect(list.map((text) => text.replaceAll(/ (Edit|Delete) the comment of test of Olivia Stone/g, ''))).toEqual([
      'test of Olivia Stone asked Go on?',
      'test of Olivia Stone answered the question of test of Olivia Stone Yes.',
      'test of Olivia Stone Plain.',
    ])
    expect(html).toContain(`<a href="#${question}">the question of`)
    expect(html).not.toContain('id="card-question"')
  })

  test('a card is tried again by a button, and a question is answered on its page', async () => {
    const id = await create('Again')
    const press = async (operation: string, fields: Record<string, string> = {}) => {
      const form = formOf(await pageOf(id), `${base}/do/${operation}`)
      expect((await visitor.post(form.action, { ...form.hidden, ...fields })).status).toBe(303)
    }
    await agent.fail(id, 'Again', 3600)
    await press('cards.retry')
    expect((await api('GET', `/cards/${id}?include=work`)).work).toMatchObject({ state: 'ready', attempts: 0 })
    expect(await pageOf(id)).not.toContain('/do/cards.retry')
    await agent.ask(id, 'Go on?')
    await press('cards.answer', { body: 'Yes <b>\r\nnow' })
    expect(await pageOf(id)).toContain('Yes &lt;b>\nnow')
    expect((await api('GET', `/cards/${id}?include=work`)).work).toMatchObject({ state: 'ready', question_id: null })
  })

  test('the attempts of a column stand beside its limit; empty is no limit, and the default is 5', async () => {
    const form = await visitor.open(`${base}/do/columns.create?board_id=${boardId}`)
    expect(form.text).toMatch(/>Attempts before a card is stuck<\/label>[^]*?name="max_attempts"[^>]* value="5"/)
    const attempts = async () => (await api('GET', `/boards/${boardId}/columns`)).at(-1).max_attempts
    const create = async (fields: Record<string, string>) => {
      await visitor.open(`${base}/do/columns.create?board_id=${boardId}`)
      await visitor.submit({ name: 'Later', wip_limit: '', ...fields }, base)
      return attempts()
    }
    expect([await create({}), await create({ max_attempts: '' }), await create({ max_attempts: '3' })]).toEqual([5, null, 3])
    const column = (await api('GET', `/boards/${boardId}/columns`)).at(-1)
    const rename = async (max_attempts: string) => {
      const part = (await visitor.open(boardPath)).text.split(`id="${column.id}-menu"`)[1]!.split('</details>')[0]!
      expect(part).toContain('Attempts before a card is stuck')
      const { action, hidden } = formOf(part)
      await visitor.post(action, { ...hidden, name: column.name, wip_limit: '', max_attempts })
      return attempts()
    }
    expect([await rename('3'), await rename(''), await rename('7')]).toEqual([3, null, 7])
  })
})

describe('the questions that wait for a person', async () => {
  const { service, visitor, agent, api, base, boardId, boardPath, create, owner } = await buildWorld()
  const mira = await service.person(owner.workspaceId, 'member', 'Mira Patel')
  const other = await signedIn(service, mira)
  const countOn = (html: string) => textOf(/<span class="asking"[^]*?<\/span>\s*(?:<\/span>)?/.exec(html)![0])
  const questionsOn = (html: string) =>
    [...html.matchAll(/<li class="question"[^>]*>[^]*?class="found-title"[^>]*>([^<]*)</g)].map(([, title]) => title)

  test('come first in “My cards”, the one that waits longest before the others, with a form each; and are counted in the navigation', async () => {
    const [second, first, foreign] = [
      await create('Second', { assignee_ids: [owner.id] }),
      await create('First', { assignee_ids: [owner.id, mira.id] }),
      await create('Foreign', { assignee_ids: [mira.id] }),
    ]
    await create('Plain', { assignee_ids: [owner.id] })
    for (const [id, text] of [
      [first, 'Blue <b>or</b> green?'],
      [second, 'Now?'],
      [foreign, 'Mine?'],
    ] as const) {
      service.now += 1000
      await agent.ask(id, text)
    }
    const page = await visitor.open(`${base}/cards?view=mine`)
    expect(questionsOn(page.text)).toEqual(['First', 'Second'])
    expect({ shown: page.shown, isMarked: isMarked(page.text) }).toEqual({
      shown: expect.stringContaining('Blue <b>or</b> green?'),
      isMarked: false,
    })
    // Each card stands there once.
    expect([...page.text.matchAll(/class="found-title"[^>]*>([^<]*)</g)].map(([, title]) => title)).toEqual(['First', 'Second', 'Plain'])
    for (const path of ['/app', boardPath, `${base}/cards/${second}`, `${base}/cards?view=recent`])
      expect([path, countOn((await visitor.request(path)).text)]).toEqual([path, '2 questions wait for your answer'])
    expect(countOn((await other.request(boardPath)).text)).toBe('2 questions wait for your answer')
    expect((await visitor.request(`${base}/cards?view=mine&q=plain`)).text).not.toContain('class="question"')

    const form = formOf(page.text, `${base}/do/cards.answer`)
    const answered = await visitor.post(form.action, { ...form.hidden, body: 'Blue.' })
    expect({ status: answered.status, location: answered.location }).toEqual({ status: 303, location: `${base}/cards` })
    const next = await visitor.open(answered.location!)
    expect({ questions: questionsOn(next.text), count: countOn(next.text) }).toEqual({
      questions: ['Second'],
      count: '1 question waits for your answer',
    })
    expect((await api('GET', `/cards/${first}/comments`)).map(({ kind, body }: any) => [kind, body])).toEqual([
      ['question', 'Blue <b>or</b> green?'],
      ['answer', 'Blue.'],
    ])
    // Somebody was faster: what was written is not lost.
    const late = await visitor.post(form.action, { ...form.hidden, form_key: 'another', body: 'Rather green.' })
    expect({ status: late.status, shown: late.shown, text: late.text }).toEqual({
      status: 409,
      shown: expect.stringContaining('no question that waits for an answer'),
      text: expect.stringContaining('Rather green.'),
    })
  })

  test('are counted in updates, also of cards that filters leave out', async () => {
    const id = await create('Live', { assignee_ids: [owner.id] })
    const update = async (from: Visitor, html: string) => {
      const after = /data-after="([^"]+)"/.exec(html)![1]!
      return (JSON.parse((await from.request(`${boardPath}/changes?after=${after}&q=absent`)).text) as BoardUpdate).asking
    }
    const html = (await visitor.request(boardPath)).text
    await agent.ask(id, 'Now?')
    expect({ visitor: await update(visitor, html), other: await update(other, html) }).toEqual({
      visitor: { [id]: true },
      other: { [id]: false },
    })
    await api('POST', `/cards/${id}/answer`, { body: 'Yes.' })
    expect(await update(visitor, html)).toEqual({ [id]: false })
  })

  test('of a board that is hidden are not there', async () => {
    const id = await create('Hidden', { assignee_ids: [mira.id] })
    await agent.ask(id, 'Secret?')
    expect((await other.request(`${base}/cards?view=mine`)).text).toContain('Secret?')
    await api('PUT', `/boards/${boardId}/visibility`, { visibility: 'private' })
    const { text } = await other.request(`${base}/cards?view=mine`)
    expect(text).not.toContain('Secret?')
    expect(text).not.toContain('class="question"')
    await api('PUT', `/boards/${boardId}/visibility`, { visibility: 'workspace' })
  })
})

test('answering and trying again are not offered if the policy does not allow them', async () => {
  const files = edit(shippedFiles, [
    [
      'permissions',
      '    action: [answer, retry]\n    subject: Card\n    conditions: { board.access: true }',
      '    action: [answer, retry]\n    subject: Card\n    conditions: { board.access: true, board.caller: creator }',
    ],
    ['operations', 'answer Card,           access]', 'answer Card,           creator]'],
    ['operations', 'retry Card,            access]', 'retry Card,            creator]'],
  ])
  const { service, agent, base, create, owner, visitor } = await buildWorld({ engine: load(files) })
  const mira = await service.person(owner.workspaceId, 'member', 'Mira Patel')
  const other = await signedIn(service, mira)
  const [asking, failed] = [await create('Asking', { assignee_ids: [mira.id, owner.id] }), await create('Failed')]
  await agent.ask(asking, 'Now?')
  await agent.fail(failed, 'Again', 3600)
  const offered = async (from: Visitor) => {
    const pages = await Promise.all(
      [`/cards/${asking}`, `/cards/${failed}`, '/cards?view=mine'].map((path) => from.request(`${base}${path}`)),
    )
    return pages.map(({ text }) => [...new Set(text.match(/cards\.(?:answer|retry)(?=")/g))])
  }
  expect(await offered(visitor)).toEqual([['cards.answer'], ['cards.retry'], ['cards.answer']])
  expect(await offered(other)).toEqual([[], [], []])
  expect((await other.request(`${base}/cards?view=mine`)).shown).toContain('Now?')
})
