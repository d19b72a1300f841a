import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startDemo, type DemoTeam } from '../../support/board-windows.ts'
import { expectGood, looks } from '../../support/chromium.ts'

let demo: DemoTeam
let board: Awaited<ReturnType<DemoTeam['board']>>
let page: Page

/** What an agent does meanwhile. */
const agent: DemoTeam['agent'] = (...asked) => demo.agent(...asked)

beforeAll(async () => {
  demo = await startDemo()
})
afterAll(() => demo.stop())

/** Three columns: two cards, one card, and none. */
beforeEach(async () => {
  board = await demo.board(['To do', 'Doing', 'Done'])
  for (const [i, title] of ['Notes', 'Poster', 'Press'].entries()) await addCard(i >> 1, title)
  await open()
})

async function open(options: BrowserContextOptions = {}): Promise<void> {
  page = await demo.open(`${demo.base}/boards/${board.id}`, options)
  await page.getByText('Live', { exact: true }).waitFor()
}
const tile = (title: string) => page.locator('.tile', { hasText: title })
/** The titles in each column, as the page shows them now. */
const shown = () =>
  page
    .locator('.lane .tiles')
    .evaluateAll((lists: any[]) =>
      lists.map((list) => Array.from(list.querySelectorAll('.tile:not([hidden]) .tile-title'), (title: any): string => title.textContent)),
    )
/** Expects the titles in each column, on the page and in the API. */
const expectCards = async (...columns: string[][]) =>
  expect({ shown: await shown(), stored: await stored() }).toEqual({ shown: columns, stored: columns })
/** The same, as the API has them. */
const stored = async () => {
  const cards: any[] = await agent('GET', `/boards/${board.id}/cards`)
  return board.columns.map((id) => cards.filter(({ column_id }) => column_id === id).map(({ title }) => title))
}
const said = (text: string) => page.getByRole('status').filter({ hasText: text }).waitFor()
const focused = () => page.locator(':focus').textContent()
const keys = async (...names: string[]) => {
  for (const name of names) await page.keyboard.press(name)
}
const lane = (i: number) => page.locator('.lane').nth(i)
const addCard = (at: number, title: string) => agent('POST', `/boards/${board.id}/cards`, { column_id: board.columns[at], title })
/** Drops the card that is dragged. */
const drop = async () => {
  await page.mouse.up()
  await said('The card is moved.')
}
const cardId = async (title: string) => (await agent('GET', `/boards/${board.id}/cards?q=${title}`))[0].id

/** Takes a card to the end of a column with the mouse, and does not let it go yet. */
async function drag(title: string, at: number): Promise<void> {
  const from = (await tile(title).boundingBox())!
  const to = (await lane(at).boundingBox())!
  await page.mouse.move(from.x + 40, from.y + 15)
  await page.mouse.down()
  await page.mouse.move(from.x + 60, from.y + 25)
  await page.mouse.move(to.x + 60, to.y + to.height - 10, { steps: 5 })
  const last = () => lane(at).locator('.tile').last().innerText()
  await expect.poll(last).toContain(title)
}

describe('a card that is dragged', () => {
  test('is where it was dropped, and goes back with Undo', async () => {
    await drag('Notes', 1)
    await drop()
    await expectCards(['Poster'], ['Press', 'Notes'], [])
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(stored).toEqual([['Notes', 'Poster'], ['Press'], []])
    await expect.poll(shown).toEqual([['Notes', 'Poster'], ['Press'], []])
  })

  test('changes places within its column, and stays there with Escape', async () => {
    await drag('Notes', 0)
    await drop()
    await expectCards(['Poster', 'Notes'], ['Press'], [])
    await drag('Poster', 2)
    await keys('Escape')
    await page.mouse.up()
    expect({ shown: await shown(), isOnBoard: page.url().endsWith(board.id) }).toEqual({
      shown: [['Poster', 'Notes'], ['Press'], []],
      isOnBoard: true,
    })
  })

  test('is put back when the column is archived meanwhile, and the page says why', async () => {
    await drag('Notes', 2)
    await agent('POST', `/columns/${board.columns[2]}/archive`)
    await page.mouse.up()
    await said('The column, or the card named by before or after, is archived.')
    board = { ...board, columns: board.columns.slice(0, 2) }
    await expectCards(['Notes', 'Poster'], ['Press'])
  })

  test('waits without a connection, with what is done after it, and both are sent when there is one again', async () => {
    await drag('Notes', 2)
    await page.context().setOffline(true)
    await page.mouse.up()
    await said('You are offline. 1 change waits.')
    await keys('c')
    await page.keyboard.type('Later')
    await keys('Enter')
    await tile('Press').locator('a').focus()
    await keys('x')
    await said('You are offline. 3 changes wait.')
    // Links say it, too, in place of a page of the browser.
    await page.locator('header a[href="/app"], a[href="/app"]').first().click()
    await said('You are offline. Open this again when the connection is back.')
    expect(await stored()).toEqual([['Notes', 'Poster'], ['Press'], []])
    const dialog = page.waitForEvent('dialog')
    void page.evaluate(() => setTimeout(() => (globalThis as any).location.reload()))
    const warning = await dialog
    expect(warning.type()).toBe('beforeunload')
    await warning.dismiss()
    await page.context().setOffline(false)
    await expect.poll(stored).toEqual([['Poster', 'Later'], ['Press'], ['Notes']])
    await expect.poll(async () => (await agent('GET', `/cards/${await cardId('Press')}`)).completed_at).not.toBeNull()
  })

  test('is asked about when an agent has claimed it', async () => {
    await agent('PUT', `/cards/${await cardId('Notes')}/claim`, { ttl: 600 })
    await tile('Notes').locator('.holder').waitFor()
    const answers = [false, true]
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.message())
      void (answers.shift() ? dialog.accept() : dialog.dismiss())
    })
    await drag('Notes', 2)
    await page.mouse.up()
    await expect.poll(shown).toEqual([['Notes', 'Poster'], ['Press'], []])
    expect(await stored()).toEqual([['Notes', 'Poster'], ['Press'], []])
    await drag('Notes', 2)
    await drop()
    expect(await stored()).toEqual([['Poster'], ['Press'], ['Notes']])
    expect(asked).toEqual([1, 2].map(() => expect.stringMatching(/^demo kanban:admin of \w+ \w+ has claimed this card until .* Go on\?$/)))
  })
})

describe('by keyboard, a card', () => {
  test('is picked up, moved and dropped; U takes it back, and Escape leaves it where it was', async () => {
    await tile('Notes').locator('a').focus()
    await keys('Space')
    await said('“Notes” is picked up.')
    await keys('ArrowDown')
    await said('To do, place 2 of 2.')
    await keys('ArrowRight')
    await said('Doing, place 2 of 2.')
    await keys('Escape')
    expect({ shown: await shown(), focused: await focused() }).toEqual({ shown: [['Notes', 'Poster'], ['Press'], []], focused: 'Notes' })
    await keys('Space', 'ArrowRight', 'ArrowRight')
    // What somebody else does now is shown when the card is dropped, and in another window at once.
    const other = await page.context().newPage()
    await other.goto(page.url())
    await other.getByText('Live', { exact: true }).waitFor()
    await addCard(2, 'Meanwhile')
    await other.getByText('Meanwhile', { exact: true }).waitFor()
    await other.close()
    expect(await shown()).toEqual([['Poster'], ['Press'], ['Notes']])
    await keys('Enter')
    await said('The card is moved.')
    const moved = [['Poster'], ['Press'], ['Meanwhile', 'Notes']]
    await expect.poll(async () => (await shown()).map((titles) => titles.toSorted())).toEqual(moved)
    expect({ stored: (await stored()).map((titles) => titles.toSorted()), focused: await focused() }).toEqual({
      stored: moved,
      focused: 'Notes',
    })
    await keys('u')
    await expect.poll(async () => (await stored())[0]!.toSorted()).toEqual(['Notes', 'Poster'])
  })

  test('has its last actions taken back one after another, each by its name', async () => {
    await tile('Notes').locator('a').focus()
    await keys('x')
    await said('The card is completed.')
    await tile('Press').locator('a').focus()
    await keys('Space', 'ArrowLeft', 'Enter')
    await said('The card is moved.')
    await keys('u')
    await said('Undone: “Press” is moved.')
    await page.getByRole('button', { name: 'Undo: “Notes” is completed.' }).click()
    await said('Undone: “Notes” is completed.')
    expect({ stored: await stored(), completedAt: (await agent('GET', `/cards/${await cardId('Notes')}`)).completed_at }).toEqual({
      stored: [['Notes', 'Poster'], ['Press'], []],
      completedAt: null,
    })
  })

  test('is completed, and another one is added beside it; nothing happens while typing, or with another key', async () => {
    await tile('Press').locator('a').focus()
    await keys('Control+x', 'Alt+x', 'Shift+X', 'j', 'k')
    expect({ focused: await focused(), completedAt: (await agent('GET', `/cards/${await cardId('Press')}`)).completed_at }).toEqual({
      focused: 'Press',
      completedAt: null,
    })
    await keys('c')
    await page.keyboard.type('xmuc?/')
    await keys('Enter')
    await expect.poll(stored).toEqual([['Notes', 'Poster'], ['Press', 'xmuc?/'], []])
    await tile('xmuc?/').locator('a').waitFor()
    await tile('Press').locator('a').focus()
    await keys('j')
    expect(await focused()).toBe('xmuc?/')
    await keys('k', 'x')
    await said('The card is completed.')
    expect((await agent('GET', `/cards/${await cardId('Press')}`)).completed_at).not.toBeNull()
    await keys('Control+z')
    await said('Undone: “Press” is completed.')
    expect((await agent('GET', `/cards/${await cardId('Press')}`)).completed_at).toBeNull()
  })
})

test('the menu of a card completes, moves and archives it, and closes', async () => {
  const menu = page.getByRole('menu')
  const choose = async (title: string, name: string) => {
    await tile(title).hover()
    await tile(title).getByRole('button').click()
    await menu.getByRole('menuitem', { name, exact: true }).click()
  }
  await choose('Notes', 'Complete')
  await said('The card is completed.')
  await choose('Notes', 'Move')
  await page.locator('.chooser').getByRole('option', { name: 'Done' }).click()
  await said('The card is moved.')
  await choose('Press', 'Archive')
  await said('The card is archived.')
  await expectCards(['Poster'], [], ['Notes'])
  await keys('Control+z')
  await tile('Press').waitFor()
  const button = tile('Notes').getByRole('button')
  await button.focus()
  await keys('Enter', 'ArrowUp')
  expect(await focused()).toBe('Archive')
  await keys('Escape')
  await tile('Notes').locator('button:focus').waitFor()
  expect(await menu.isVisible()).toBe(false)
})

test('cards are added one after another, and what is half-written survives what others change', async () => {
  const first = lane(0)
  await first.getByText('Add card').click()
  await first.locator('.adder input:focus').waitFor()
  for (const title of ['First', 'Second', 'Half']) {
    await page.keyboard.type(title)
    if (title !== 'Half') await page.keyboard.press('Enter')
  }
  await expect.poll(stored).toEqual([['Notes', 'Poster', 'First', 'Second'], ['Press'], []])
  await addCard(0, 'By an agent')
  await tile('By an agent').waitFor()
  await page.keyboard.type(' written')
  expect(await first.getByLabel('Title of a new card').inputValue()).toBe('Half written')
  // Without the focus, too.
  await page.locator('h1').click()
  await addCard(0, 'By the same')
  await tile('By the same').waitFor()
  expect(await first.getByLabel('Title of a new card').inputValue()).toBe('Half written')
  expect((await shown())[0]).toEqual(['Notes', 'Poster', 'First', 'Second', 'By an agent', 'By the same'])
  // What is open and empty takes no focus away.
  await lane(1).getByText('Add card').click()
  await lane(1).locator('.adder input:focus').waitFor()
  await page.getByPlaceholder('Search cards').focus()
  await addCard(1, 'By another')
  await tile('By another').waitFor()
  expect(await page.locator(':focus').getAttribute('placeholder')).toBe('Search cards')
})

test('lines that are pasted become cards if the person wants that', async () => {
  await keys('c')
  await lane(0).locator('.adder input:focus').waitFor()
  await page.evaluate(() => (globalThis as any).navigator.clipboard.writeText('One\n\n  Two\r\nThree'))
  await keys('ControlOrMeta+v')
  await said('You have pasted 3 lines.')
  await page.getByRole('button', { name: 'Add 3' }).click()
  await expect.poll(stored).toEqual([['Notes', 'Poster', 'One', 'Two', 'Three'], ['Press'], []])
})

test('a card whose answer was lost is added once, when it is sent again', async () => {
  await page.route('**/do/cards.create', async (route) => void (await route.fetch(), await route.abort('internetdisconnected')), {
    times: 1,
  })
  await keys('c')
  await page.keyboard.type('Once')
  await keys('Enter')
  await tile('Once').locator('a').waitFor()
  await page.keyboard.type('Other')
  await keys('Enter')
  await expect.poll(stored).toEqual([['Notes', 'Poster', 'Once', 'Other'], ['Press'], []])
})

test('a column is renamed in its menu, a refusal keeps what was written, and columns are added', async () => {
  const menu = lane(0).locator('.menu')
  await menu.locator('summary').click()
  await menu.getByLabel('Name').fill('Ideas')
  await menu.getByLabel('Name').press('Enter')
  await page.getByRole('heading', { name: 'Ideas' }).waitFor()
  // Closed, and what it begins with is the new name.
  await menu.getByLabel('Name').waitFor({ state: 'hidden' })
  await menu.locator('[name="was.name"][value=Ideas]').waitFor({ state: 'attached' })
  await menu.locator('summary').click()
  await menu.getByLabel('Name').fill('To do')
  await menu.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'To do' }).waitFor()
  await page.getByText('Add column').click()
  await page.locator('#add-column input:focus').waitFor()
  await page.keyboard.type('   ')
  await keys('Enter')
  await said('Please check')
  await page.locator('#add-column').getByLabel('Name').fill('Later')
  await keys('Enter')
  await page.getByRole('heading', { name: 'Later' }).waitFor()
  await page.locator('#board-menu summary').click()
  await page.locator('h1').click()
  expect(await page.getByText('Delete board').isVisible()).toBe(false)
})

test.each(looks)('what opens on a board is accessible and fits the window: %s', async (look, options) => {
  await open(options)
  const opened = {
    add: () => lane(0).getByText('Add card').click(),
    lane: () => lane(0).locator('.menu summary').click(),
    board: () => page.locator('#board-menu summary').click(),
    menu: async () => {
      await tile('Poster').hover()
      await tile('Poster').getByRole('button').click()
    },
  }
  for (const [name, act] of Object.entries(opened)) {
    await act()
    await expectGood(page, `controls-${name}`, look, 'all')
    await keys('Escape')
  }
})

describe('a finger that rests on a card', () => {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
  let send: (type: 'touchStart' | 'touchMove' | 'touchEnd', x?: number, y?: number) => Promise<unknown>

  /** Begins to drag a card. @returns where the finger is */
  async function lift(title: string): Promise<{ x: number; y: number }> {
    const touch = await page.context().newCDPSession(page)
    send = (type, x = 0, y = 0) => touch.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y }] })
    const from = (await tile(title).boundingBox())!
    const at = { x: from.x + 40, y: from.y + 15 }
    await send('touchStart', at.x, at.y)
    await page.locator('.tile.ghost').waitFor()
    return at
  }
  const letGo = async () => {
    await send('touchEnd')
    await said('The card is moved.')
  }

  test('moves it', async () => {
    await open({ ...phone, viewport: { width: 780, height: 780 } })
    const to = (await lane(1).boundingBox())!
    const { x, y } = await lift('Notes')
    for (const part of [0.2, 0.5, 1]) await send('touchMove', x + part * (to.x + 20 - x), y + part * 60)
    await expect.poll(async () => (await shown())[1]).toContain('Notes')
    await letGo()
    await expect.poll(async () => (await stored())[1]).toContain('Notes')
  })

  test('takes it across three columns of a phone, which scroll at the edge', async () => {
    const last = await agent('POST', `/boards/${board.id}/columns`, { name: 'Shipped' })
    board = { ...board, columns: [...board.columns, last.id] }
    await open(phone)
    const { x, y } = await lift('Notes')
    for (const to of [x + 60, 300, 380]) await send('touchMove', to, y + 4)
    await expect.poll(shown).toEqual([['Poster'], ['Press'], [], ['Notes']])
    await letGo()
    await expectCards(['Poster'], ['Press'], [], ['Notes'])
    const { x: back, y: there } = await lift('Notes')
    for (const to of [back - 20, 40, 10]) await send('touchMove', to, there + 4)
    await expect.poll(async () => (await shown())[0]).toContain('Notes')
    await letGo()
    await expect.poll(async () => (await stored())[0]).toContain('Notes')
  })

  test('takes it down a long column while the page scrolls', async () => {
    for (let i = 0; i < 14; i++) await addCard(0, `More ${i}`)
    await open(phone)
    const { x, y } = await lift('Notes')
    for (const to of [y + 60, 700, 830]) await send('touchMove', x, to)
    await expect.poll(async () => (await shown())[0]!.at(-1)).toBe('Notes')
    await letGo()
    await expect.poll(async () => (await stored())[0]!.at(-1)).toBe('Notes')
  })
})
