import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { agentOf, expectAccessible, expectFits, openBrowser, openWindow, press, screenshot, type Window } from './chromium.ts'
import { startProcess, type RunningProcess } from './process.ts'

/** A running demo, its owner signed in in a browser, and an agent with a token of theirs. */
export interface DemoTeam {
  readonly browser: Browser
  readonly agent: ReturnType<typeof agentOf>
  /** the path of the workspace */
  readonly base: string
  /** Opens a window at a page; the owner is signed in. */
  open(path: string, options?: BrowserContextOptions): Promise<Window>
  /** Opens a window, and signs the owner in there, in a session of its own. */
  signIn(path: string): Promise<Window>
  /** Creates a board with columns. @returns their ids */
  board(names: readonly string[]): Promise<{ readonly id: string; readonly columns: readonly string[] }>
  stop(): Promise<void>
}

/** Starts a demo. @param storage of two processes: the browser talks to one, and the agent to the other */
export async function startDemo(storage?: string): Promise<DemoTeam> {
  const processes: RunningProcess[] = []
  const start = async (args: readonly string[]) => {
    const started = startProcess(['--json', ...args], storage === undefined ? {} : { LANEKEEPER_STORAGE: storage })
    processes.push(started)
    return JSON.parse(await started.until('\n'))
  }
  const [browser, demo] = await Promise.all([openBrowser(), start(['--demo'])])
  const agentUrl: string = storage === undefined ? demo.url : (await start([])).url
  const { email, password } = demo.people.find((one: { email: string }) => one.email.startsWith('olivia'))
  const { token } = demo.tokens.find(({ display_name, scopes }: any) => display_name === 'Olivia Stone' && scopes.includes('kanban:admin'))
  const agent = agentOf(() => ({ url: agentUrl, token }))
  const base = `/app/${(await agent('GET', '/account')).workspace.id}`
  const open = async (path: string, options: BrowserContextOptions) => {
    const window = await openWindow(browser, demo.url, options)
    await window.page.goto(path)
    return window
  }
  const signIn = async (path: string) => {
    const window = await open(path, {})
    await window.page.getByLabel('E-mail address').fill(email)
    await window.page.getByLabel('Password').fill(password)
    await press(window.page, 'Sign in')
    await window.page.waitForURL(`**${path}`)
    return window
  }
  const first = await signIn('/app')
  const storageState = await first.page.context().storageState()
  await first.close()
  return {
    browser,
    agent,
    base,
    open: (path, options) => open(path, { storageState, ...options }),
    signIn,
    async board(names) {
      const { id } = await agent('POST', '/boards', { name: 'Spring release' })
      const columns: string[] = []
      for (const name of names) columns.push((await agent('POST', `/boards/${id}/columns`, { name })).id)
      return { id, columns }
    },
    async stop() {
      await browser.close()
      await Promise.all(processes.map((one) => one.stop()))
    },
  }
}

/** The looks in which a page is examined. */
export const looks = [
  ['light', { colorScheme: 'light', viewport: { width: 1280, height: 800 } }],
  ['dark', { colorScheme: 'dark', viewport: { width: 1280, height: 800 } }],
  ['phone', { colorScheme: 'light', viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true }],
] as const satisfies readonly (readonly [string, BrowserContextOptions])[]
export type Look = (typeof looks)[number][0]

/** Expects that what a page shows now is accessible, and fits its window. The dark pages have the elements of the light ones, in other colors. */
export async function expectGood(page: Page, name: string, look: Look): Promise<void> {
  await screenshot(page, `${name}-${look}`)
  await expectAccessible(page, name, look === 'dark' ? 'color' : 'all')
  await expectFits(page, name)
}
