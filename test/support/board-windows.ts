import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { enterPassword, openBrowser, openWindow } from './chromium.ts'
import { startProcess, type RunningProcess } from './process.ts'

/** A running demo, its owner signed in in a browser, and an agent with a token of theirs. */
export interface DemoTeam {
  readonly agent: ReturnType<typeof agentOf>
  /** an agent of another person, whose token can be revoked, and windows where this person is signed in */
  readonly other: { readonly agent: ReturnType<typeof agentOf>; revoke(): Promise<void>; open(path: string): Promise<Page> }
  /** the path of the workspace */
  readonly base: string
  /** Opens a window at a page; the owner is signed in. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>
  /** Opens a window at `/app`, and signs the owner in there, in a session of its own. */
  signIn(): Promise<Page>
  /** Signs the owner or another person in, in a tab of an open window. */
  signInOn(tab: Page, who?: 'owner' | 'another'): Promise<Page>
  /** Creates a board with columns. @returns their ids */
  board(names: readonly string[]): Promise<{ readonly id: string; readonly columns: readonly string[] }>
  stop(): Promise<void>
}

/**
 * Starts a demo.
 * @param storage of two processes: the browser talks to one, and the agent to the other
 * @param env more settings
 */
export async function startDemo(storage?: string, env: Record<string, string> = {}): Promise<DemoTeam> {
  const processes: RunningProcess[] = []
  const start = async (args: readonly string[]) => {
    const started = startProcess(['--json', ...args], storage === undefined ? env : { ...env, LANEKEEPER_STORAGE: storage })
    processes.push(started)
    return JSON.parse(await started.until('\n'))
  }
  const [browser, demo] = await Promise.all([openBrowser(), start(['--demo'])])
  const agentUrl: string = storage === undefined ? demo.url : (await start([])).url
  const [owner, another] = ['olivia', 'adrian'].map((name) => demo.people.find(({ email }: { email: string }) => email.startsWith(name)))
  const tokenOf = (name: string): string =>
    demo.tokens.find(({ display_name, scopes }: any) => display_name === name && scopes.includes('kanban:admin')).token
  const [token, otherToken] = ['Olivia Stone', 'Adrian Cole'].map(tokenOf) as [string, string]
  const agent = agentOf(agentUrl, token)
  const base = `/app/${(await agent('GET', '/account')).workspace.id}`
  const signInOn = async (page: Page, { email, password } = owner) => {
    await enterPassword(page, email, password, `${demo.url}/app`)
    await page.waitForURL('**/app')
    return page
  }
  const first = await browser.newPage()
  // As in `openWindow`.
  first.setDefaultTimeout(120_000)
  await signInOn(first)
  const storageState = await first.context().storageState()
  await first.close()
  return {
    agent,
    other: {
      agent: agentOf(agentUrl, otherToken),
      async revoke() {
        const { ok } = await fetch(`${agentUrl}/revoke`, { method: 'POST', body: new URLSearchParams({ token: otherToken }) })
        expect(ok).toBe(true)
      },
      async open(path) {
        const page = await signInOn(await openWindow(browser, demo.url), another)
        await page.goto(path)
        return page
      },
    },
    base,
    async open(path, options) {
      const page = await openWindow(browser, demo.url, { storageState, ...options })
      await page.goto(path)
      return page
    },
    signInOn: (tab, who = 'owner') => signInOn(tab, who === 'owner' ? owner : another),
    signIn: async () => signInOn(await openWindow(browser, demo.url)),
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

/** Requests of an agent, which must succeed. */
function agentOf(url: string, token: string) {
  return async (method: string, path: string, body?: unknown, more: Readonly<Record<string, string>> = {}): Promise<any> => {
    const headers = { ...more, authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/v1${path}`, { method, headers, body: body === undefined ? null : JSON.stringify(body) })
    const reply: any = await response.json()
    expect({ method, path, ok: response.ok, error: reply.error }).toStrictEqual({ method, path, ok: true, error: undefined })
    return reply.data
  }
}
