import { Agent, request } from 'node:http'
import { once } from 'node:events'
import { chromium, type Browser, type BrowserContext, type CDPSession, type Page } from 'playwright-core'
import { findBrowser, missingProgram, sandboxArguments } from '../support/programs.ts'
import { Client } from './client.ts'
import { showProgress, type BenchTable, type Effort, type Report } from './report.ts'
import { ServerProcess } from './server-process.ts'
import { formatSpread, spreadOf } from './statistics.ts'

/** Pages of each round whose CPU time is measured, and rounds. */
const sizes: Readonly<Record<Effort, { readonly each: number; readonly rounds: number }>> = {
  tiny: { each: 2, rounds: 1 },
  quick: { each: 30, rounds: 5 },
  default: { each: 60, rounds: 9 },
  full: { each: 120, rounds: 15 },
}
const WIDE = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }
const COLUMNS = 3
const CARDS = 90
/** The card that everything is done with: one that is scrolled to. */
const CHOSEN = 'Card 58'

export const pages: BenchTable = {
  name: 'pages',
  summary: 'what people do on a board: how far down it begins, what a click costs, and how many keys an action takes',
  measure,
}

async function measure(effort: Effort): Promise<Report> {
  const { each, rounds } = sizes[effort]
  const service = await ServerProcess.startService('memory', { args: ['--demo'] })
  const client = new Client(service.url, service.adminToken)
  const location = await findBrowser()
  if (location === undefined) throw missingProgram('chromium-headless-shell')
  const browser = await chromium.launch({ ...location, args: sandboxArguments() })
  try {
    const board = await createBoard(client)
    const storageState = await signIn(browser, service)
    const open = async (viewport: typeof WIDE, isMobile: boolean, query = ''): Promise<BoardPage> => {
      const options = { baseURL: service.url, storageState, viewport, hasTouch: isMobile, isMobile }
      return BoardPage.open(await browser.newContext(options), board.path + query)
    }
    showProgress('a click')
    const whole = [await open(WIDE, false), await open(PHONE, true)]
    const tops = await Promise.all(whole.map((one) => one.topOfFirstCard()))
    const wide = await open(WIDE, false, '?state=open')
    const click = await wide.openAndReturn()
    const actions: [name: string, keys: number, loads: number][] = []
    for (const { name, keys, text, isDone } of ACTIONS) {
      showProgress(name)
      const loads = await wide.act(keys, text, async () => isDone(await board.chosen()))
      actions.push([name, keys.length, loads])
    }
    const cookie = storageState.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    const cpuOf = async (coding: string) => {
      const found: number[] = []
      for (let round = rounds === 1 ? 1 : -2; round <= rounds; round++) {
        showProgress(`pages (${coding}), round ${round} of ${rounds}`)
        const cpu = await service.cpuOf(async () => {
          for (let i = 0; i < each; i++) await bytesOf(service.url, board.path, cookie, coding)
        })
        if (round > 0) found.push(cpu / each / 1000)
      }
      return spreadOf(found)
    }
    const [plain, compressed] = [await cpuOf('identity'), await cpuOf('br')]
    const [before, after] = [
      await bytesOf(service.url, board.path, cookie, 'identity'),
      await bytesOf(service.url, board.path, cookie, 'br'),
    ]
    return {
      title: `A board of ${CARDS} cards in ${COLUMNS} columns in Chromium; the service on memory. Keys apart from the letters of a text, such as a title.`,
      head: ['what', 'measured', 'goal'],
      rows: [
        ['open a card and return: page loads', String(click.loads), '0'],
        ['open a card and return: of scroll, filter and focus kept', String(click.kept), '3'],
        ['a click on a card when nothing is new: KB', (click.bytes / 1024).toFixed(1), '≤ 15'],
        ['first card at 1280×800: px', String(tops[0]), '≤ 150'],
        ['first card at 390×844: px', String(tops[1]), '≤ 160'],
        ...actions.map(([name, keys, loads]) => [`${name}: keys, loads`, `${keys}, ${loads}`, '≤ 2, 0']),
        ['the page of the board: KB, compressed', `${(before / 1024).toFixed(1)}, ${(after / 1024).toFixed(1)}`, ''],
        ['the page of the board: CPU in ms', formatSpread(plain, 1), '≤ 15'],
        ['the page of the board, compressed: CPU in ms', formatSpread(compressed, 1), ''],
      ],
    }
  } finally {
    client.close()
    await browser.close()
    await service.stop()
  }
}

/** What is done with the chosen card, by keys alone. */
const ACTIONS: readonly {
  readonly name: string
  readonly keys: readonly string[]
  /** what is typed between the keys */
  readonly text?: string
  readonly isDone: (card: any) => boolean
}[] = [
  { name: 'assign me', keys: ['a', 'Enter'], isDone: ({ assignee_ids }) => assignee_ids.length === 1 },
  { name: 'label', keys: ['l', 'Enter'], isDone: ({ label_ids }) => label_ids.length === 1 },
  { name: 'due tomorrow', keys: ['d', 'Enter'], text: 'tom', isDone: ({ due_at }) => due_at !== null },
  { name: 'rename', keys: ['e', 'Enter'], text: 'Renamed', isDone: ({ title }) => title === 'Renamed' },
]

interface BenchBoard {
  readonly path: string
  chosen(): Promise<any>
}

async function createBoard(client: Client): Promise<BenchBoard> {
  const send = async (method: string, path: string, body?: unknown) =>
    (JSON.parse(await client.send({ method, path: `/v1${path}`, body })) as { data: any }).data
  const { workspace } = await send('GET', '/account')
  const { id } = await send('POST', '/boards', { name: 'Spring release' })
  await send('POST', `/boards/${id}/labels`, { name: 'urgent', color: '#cf222e' })
  const columns: string[] = []
  for (let i = 0; i < COLUMNS; i++) columns.push((await send('POST', `/boards/${id}/columns`, { name: `Column ${i + 1}` })).id)
  let chosen = ''
  for (let i = 0; i < CARDS; i++) {
    const column_id = columns[Math.floor((i * COLUMNS) / CARDS)]
    const card = await send('POST', `/boards/${id}/cards`, { column_id, title: `Card ${i + 1}`, description: 'Some text.' })
    if (card.title === CHOSEN) chosen = card.id
  }
  return { path: `/app/${workspace.id}/boards/${id}`, chosen: () => send('GET', `/cards/${chosen}`) }
}

async function signIn(browser: Browser, { url, people }: ServerProcess): Promise<Awaited<ReturnType<BrowserContext['storageState']>>> {
  const context = await browser.newContext({ baseURL: url })
  const page = await context.newPage()
  const [{ email, password }] = people as [ServerProcess['people'][number]]
  await page.goto('/app')
  await page.getByLabel('E-mail address', { exact: true }).fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL('**/app')
  const state = await context.storageState()
  await context.close()
  return state
}

/** A board in a window. */
class BoardPage {
  readonly #page: Page
  /** documents that the window has loaded, and bytes that it has received */
  #loads = 0
  #bytes = 0
  /** requests without an answer, except for the stream */
  readonly #waiting = new Set<unknown>()

  private constructor(page: Page, network: CDPSession) {
    this.#page = page
    page.on('domcontentloaded', () => this.#loads++)
    page.on('request', (one) => !one.url().includes('/events?') && this.#waiting.add(one))
    for (const end of ['requestfinished', 'requestfailed'] as const) page.on(end as 'requestfinished', (one) => this.#waiting.delete(one))
    network.on('Network.loadingFinished', ({ encodedDataLength }) => (this.#bytes += encodedDataLength))
  }

  static async open(context: BrowserContext, path: string): Promise<BoardPage> {
    const page = await context.newPage()
    const network = await context.newCDPSession(page)
    await network.send('Network.enable')
    const board = new BoardPage(page, network)
    await page.goto(path)
    await page.locator('[data-live][data-state=live]').waitFor({ state: 'attached' })
    board.#loads = 0
    return board
  }

  #tile = (title: string) => this.#page.locator('.tile', { has: this.#page.getByRole('link', { name: title, exact: true }) })

  async topOfFirstCard(): Promise<number> {
    return Math.round((await this.#page.locator('.tile').first().boundingBox())!.y)
  }

  /** Opens the chosen card with a click and goes back, twice: the second time, nothing is new. */
  async openAndReturn(): Promise<{ readonly loads: number; readonly kept: number; readonly bytes: number }> {
    const page = this.#page
    const scrolled = () => this.#tile(CHOSEN).evaluate((tile: any) => tile.closest('.tiles').scrollTop as number)
    let bytes = 0
    let kept = 0
    for (let time = 1; time <= 2; time++) {
      await page.getByRole('link', { name: CHOSEN, exact: true }).focus()
      const before = { scroll: await scrolled(), address: page.url() }
      this.#bytes = 0
      // The script of the shared worker is of another target, which tells no end.
      this.#waiting.clear()
      await page.getByRole('link', { name: CHOSEN, exact: true }).click()
      await page.locator('dialog.card-panel #card-title', { hasText: CHOSEN }).waitFor()
      while (this.#waiting.size > 0) await page.waitForTimeout(20)
      bytes = this.#bytes
      await page.keyboard.press('Escape')
      await page.locator('dialog.card-panel').waitFor({ state: 'hidden' })
      const focused = await page.locator(':focus').textContent()
      kept = [(await scrolled()) === before.scroll, page.url() === before.address, focused === CHOSEN].filter(Boolean).length
    }
    return { loads: this.#loads, kept, bytes }
  }

  /** Presses keys on the chosen card, with a text after the first one. @returns how many pages were loaded until it was done */
  async act([first, ...rest]: readonly string[], text: string | undefined, isDone: () => Promise<boolean>): Promise<number> {
    const page = this.#page
    this.#loads = 0
    await page.getByRole('link', { name: CHOSEN, exact: true }).focus()
    await page.keyboard.press(first!)
    await page.locator('.chooser input:focus').waitFor()
    if (text !== undefined) await page.keyboard.type(text)
    for (const key of rest) await page.keyboard.press(key)
    while (!(await isDone())) await page.waitForTimeout(20)
    return this.#loads
  }
}

/** Fetches a page. @returns how many bytes its body has */
async function bytesOf(origin: string, path: string, cookie: string, coding: string): Promise<number> {
  const sent = request(origin + path, { agent: agents, headers: { cookie, 'accept-encoding': coding } }).end()
  const [response] = (await once(sent, 'response')) as [AsyncIterable<Uint8Array> & { readonly statusCode: number }]
  let bytes = 0
  for await (const part of response) bytes += part.length
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`)
  return bytes
}
const agents = new Agent({ keepAlive: true, maxSockets: 1 })
