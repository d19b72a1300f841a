import { describe, expect, test } from 'vitest'
import type { BoardUpdate } from '../../src/web/boards/board-update.ts'
import { startAgent } from '../support/agent.ts'
import { buildTeam, startForSuite } from '../support/board-team.ts'
import { formOf, signedIn, textOf } from '../support/visitor.ts'

describe('columns that complete, and outcomes, in the web app', async () => {
  const service = await startForSuite()
  const { api, base, boardId, columns, owner, visitor } = await buildTeam(service, ['To do', 'Done'])
  const [todo, done] = columns as [string, string]
  const boardPath = `${base}/boards/${boardId}`
  const create = async (title: string, members = {}): Promise<string> =>
    (await api('POST', `/boards/${boardId}/cards`, { column_id: todo, title, ...members })).id
  const page = async (path: string) => (await visitor.request(path)).text
  const tileOn = (html: string, id: string) => new RegExp(`<li [^>]*id="${id}"[^]*?</li>`).exec(html)?.[0] ?? ''
  const laneOf = async (id: string) => new RegExp(`<section [^>]*id="${id}"[^]*?</section>`).exec(await page(boardPath))![0]
  const factOf = (html: string, name: string) => textOf(new RegExp(`<dd id="fact-${name}"[^]*?</dd>`).exec(html)?.[0] ?? '')

  test('the form of a column says whether it completes its cards, and a mark in its head shows that', async () => {
    expect(await laneOf(done)).not.toContain('Cards that come here are done')
    for (const completes of ['true', 'false', 'true']) {
      const menu = (await laneOf(done)).split(`id="${done}-menu"`)[1]!.split('</details>')[0]!
      expect(textOf(menu)).toContain('Completes its cards')
      const { action, hidden } = formOf(menu)
      await visitor.post(action, { ...hidden, name: 'Done', wip_limit: '', max_attempts: '5', completes })
      expect((await laneOf(done)).includes('Cards that come here are done')).toBe(completes === 'true')
    }
    expect(await laneOf(todo)).not.toContain('Cards that come here are done')
  })

  test('a new board with four columns has one that completes: the last', async () => {
    await visitor.open(`${base}/do/boards.create`)
    await visitor.submit({ name: 'New', template: 'columns' }, `${base}/do/boards.create`)
    const board = (await api('GET', '/boards')).find(({ name }: { name: string }) => name === 'New')
    const found = await api('GET', `/boards/${board.id}/columns`)
    expect(found.map(({ name, completes }: any) => [name, completes])).toEqual([
      ['To do', false],
      ['Doing', false],
      ['Review', false],
      ['Done', true],
    ])
  })

  test('a card is done, failed or blocked: each looks different, and an open board is told of a blocker', async () => {
    await api('PATCH', `/columns/${done}`, { completes: true })
    const [blocker, other] = [await create('Blocker'), await create('Other')]
    const blocked = await create('Blocked', { blocker_ids: [blocker] })
    const html = await page(boardPath)
    expect(textOf(tileOn(html, blocked))).toContain('Blocked')
    expect(tileOn(html, blocked)).toContain('class="work blocked"')
    expect(tileOn(html, blocker)).not.toContain('class="work')
    // The person says that it failed.
    const press = async (id: string, part: string) => {
      const card = await page(`${base}/cards/${id}`)
      const form = card.split('<form').find((text) => text.includes(`id="${part}"`))!
      const { action, hidden } = formOf(`<form${form}`)
      expect((await visitor.post(action, hidden)).status).toBe(303)
    }
    await press(blocker, 'card-failed')
    const after = /data-after="([^"]+)"/.exec(html)![1]!
    const update = async () => JSON.parse(await page(`${boardPath}/changes?after=${after}`)) as BoardUpdate
    const failed = await update()
    expect(textOf(failed.tiles[blocker]!.html)).toContain('Failed')
    expect(failed.tiles[blocker]!.html).toContain('class="fact failed"')
    expect(failed.tiles[blocked]!.html).toContain('class="work blocked"')
    const card = await page(`${base}/cards/${blocker}`)
    expect(factOf(card, 'state')).toMatch(/^Failed /)
    expect(card).not.toContain('id="card-failed"')
    expect(factOf(await page(`${base}/cards/${blocked}`), 'blockers')).toContain('Blocker failed')
    await press(blocker, 'card-complete')
    expect((await api('GET', `/cards/${blocker}`)).outcome).toBe(null)
    // A move to the column that completes frees the card that was blocked, and its tile says so at once.
    await api('POST', `/cards/${blocker}/move`, { column_id: done })
    const freed = await update()
    expect(freed.tiles[blocker]!.html).toContain('class="fact done"')
    expect(freed.tiles[blocked]!.html).not.toContain('class="work')
    expect(freed.tiles[other]).toBe(undefined)
  })

  test('the id in another system stands on the page of a card, and is changed in its form', async () => {
    const id = await create('Copied', { external_ref: 'JIRA-4711 <b>' })
    expect(factOf(await page(`${base}/cards/${id}`), 'external-ref')).toBe('JIRA-4711 <b>')
    expect(await page(`${base}/cards/${await create('Own')}`)).not.toContain('fact-external-ref')
    await visitor.open(`${base}/do/cards.update?card_id=${id}`)
    await visitor.submit({ external_ref: '' }, `${base}/do/cards.update`)
    expect((await api('GET', `/cards/${id}`)).external_ref).toBe(null)
  })

  test('a comment under an open question becomes its answer, in the words of who wrote it', async () => {
    const agent = startAgent(service, owner)
    const answering = async (id: string, from = visitor) =>
      (await from.request(`${base}/cards/${id}`)).text
        .split('<form')
        .filter((text) => text.includes('This is the answer'))
        .map((text) => formOf(`<form${text}`))
    const write = async (token: string, id: string, body: string) => {
      service.now += 1000
      await service.send(token, 'POST', `/cards/${id}/comments`, { body })
    }
    const id = await create('Asks')
    await write(owner.write, id, 'Before.')
    expect(await answering(id)).toEqual([])
    service.now += 1000
    await agent.ask(id, 'Blue or green?')
    const mira = await service.person(owner.workspaceId, 'member', 'Mira Patel')
    const other = await signedIn(service, mira)
    await write(mira.write, id, 'Blue,\nor <b>green</b>.')
    const [form, ...more] = await answering(id, other)
    expect(more).toEqual([])
    service.now += 1000
    expect((await other.post(form!.action, form!.hidden)).status).toBe(303)
    const comments = await api('GET', `/cards/${id}/comments`)
    expect(comments.at(-1)).toMatchObject({ kind: 'answer', body: expect.stringMatching(/Mira Patel:\n\n> Blue,\n> or <b>green<\/b>\.$/) })
    expect((await api('GET', `/cards/${id}?include=work`)).work.state).toBe('ready')
    expect(await answering(id, other)).toEqual([])
  })
})
