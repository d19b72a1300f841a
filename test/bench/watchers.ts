import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { text } from 'node:stream/consumers'
import type { BoardUpdate } from '../../src/web/boards/board-update.ts'
import { Client } from './client.ts'
import { showProgress, type BenchTable, type Effort, type Report } from './report.ts'
import { ServerProcess } from './server-process.ts'
import { formatSpread, spreadOf } from './statistics.ts'

interface Size {
  readonly cards: number
  /** changes one after the other, and pages, of each round */
  readonly each: number
  readonly rounds: number
  /** many changes are made for them, five in each */
  readonly seconds: number
}

const sizes: Readonly<Record<Effort, Size>> = {
  tiny: { cards: 10, each: 2, rounds: 1, seconds: 1 },
  quick: { cards: 500, each: 60, rounds: 5, seconds: 5 },
  default: { cards: 500, each: 120, rounds: 9, seconds: 20 },
  full: { cards: 500, each: 120, rounds: 15, seconds: 100 },
}
/** Of the demo data: the members of its first workspace. */
const PEOPLE = 4
/** The rounds before those that count: a process still compiles code in them. */
const WARM_UP_ROUNDS = 8
const FEW = 8
const MANY = 20
const CHANGES_PER_SECOND = 5
/** Cards of a column that a board shows. */
const PER_COLUMN = 50

export const watchers: BenchTable = {
  name: 'watchers',
  summary: 'what people cost who look at a board while it changes, and the page of a board',
  measure,
}

async function measure(effort: Effort): Promise<Report> {
  const { cards, each, rounds, seconds } = sizes[effort]
  const service = await ServerProcess.startService('memory', { args: ['--demo'] })
  const client = new Client(service.url, service.adminToken)
  try {
    const board = await createBoard(client, cards)
    const people = await Promise.all(service.people.slice(0, PEOPLE).map((person) => signIn(service.url, person)))
    let changed = 0
    const change = () => {
      const id = board.cards[changed % board.cards.length]!
      return client.send({ method: 'PATCH', path: `/v1/cards/${id}`, body: { title: `Title ${++changed}` } })
    }
    const openPage = (cookie: string) => client.send({ method: 'GET', path: board.page, headers: { cookie } })
    const inRounds = async (what: string, work: () => Promise<unknown>) => {
      const found: number[] = []
      for (let round = rounds === 1 ? 1 : 1 - WARM_UP_ROUNDS; round <= rounds; round++) {
        showProgress(`${what}, round ${round} of ${rounds}`)
        const cpu = (await service.cpuOf(work)) / each / 1000
        if (round > 0) found.push(cpu)
      }
      return spreadOf(found)
    }

    const page = await inRounds('page', async () => {
      for (let i = 0; i < each; i++) await openPage(people[i % people.length]!)
    })
    const few = await watchAll(board, people, FEW)
    const before = few.map(({ bytes }) => bytes)
    const one = await inRounds('one change', async () => {
      for (let i = 0; i < each; i++) {
        await change()
        await Promise.all(few.map((watcher) => watcher.shown(`Title ${changed}`)))
      }
    })
    const bytes =
      few.reduce((sum, watcher, i) => sum + watcher.bytes - before[i]!, 0) /
      few.length /
      (each * (rounds === 1 ? 1 : rounds + WARM_UP_ROUNDS))
    for (const watcher of few) watcher.close()

    const many = await watchAll(board, people, MANY)
    const count = seconds * CHANGES_PER_SECOND
    let isLate = 0
    const cpu = await service.cpuOf(async () => {
      const startedAt = performance.now()
      const waiting: Promise<unknown>[] = []
      for (let i = 0; i < count; i++) {
        showProgress(`change ${i} of ${count}`)
        await pause(startedAt + (i * 1000) / CHANGES_PER_SECOND - performance.now())
        const madeAt = performance.now()
        await change()
        waiting.push(
          ...many.map(async (watcher) => {
            await watcher.shown(`Title ${changed}`)
            if (performance.now() - madeAt > 1000) isLate++
          }),
        )
      }
      await Promise.all(waiting)
    })
    for (const watcher of many) watcher.close()
    const part = (cpu / (seconds * 1_000_000)) * 100
    return {
      title: `A board of ${cards} cards on memory; CPU time of the whole process. Watchers are streams of several people, which get what a browser gets and shows.`,
      head: ['what', 'measured', 'goal'],
      rows: [
        [`one change, ${FEW} watchers: CPU in ms`, formatSpread(one, 1), '≤ 8'],
        [`one change, ${FEW} watchers: bytes for each`, bytes.toFixed(0), '≤ 3000'],
        [`${MANY} watchers, ${CHANGES_PER_SECOND} changes a second: CPU in % of a core`, part.toFixed(1), '≤ 15'],
        [`${MANY} watchers, ${CHANGES_PER_SECOND} changes a second: shown later than 1 s, of ${count * MANY}`, String(isLate), '0'],
        ['the page: CPU in ms', formatSpread(page, 1), '≤ 15'],
      ],
    }
  } finally {
    client.close()
    await service.stop()
  }
}

interface Board {
  readonly cards: readonly string[]
  readonly origin: string
  readonly workspace: string
  readonly id: string
  /** its path */
  readonly page: string
}

/** A board whose cards everybody sees, with labels, people and due times. */
async function createBoard(client: Client, count: number): Promise<Board> {
  const send = async (method: string, path: string, body?: unknown) =>
    (JSON.parse(await client.send({ method, path: `/v1${path}`, body })) as { data: any }).data
  const { workspace, user_id } = await send('GET', '/account')
  const { id } = await send('POST', '/boards', { name: 'Watched' })
  const label = await send('POST', `/boards/${id}/labels`, { name: 'urgent', color: '#cf222e' })
  const cards: string[] = []
  let column: { id: string } | undefined
  for (let i = 0; i < count; i++) {
    if (i % PER_COLUMN === 0) column = await send('POST', `/boards/${id}/columns`, { name: `Column ${i / PER_COLUMN + 1}` })
    const more = {
      label_ids: i % 3 === 0 ? [label.id] : [],
      assignee_ids: i % 2 === 0 ? [user_id] : [],
      due_at: i % 4 === 0 ? '2027-01-01T00:00:00Z' : null,
    }
    cards.push(
      (await send('POST', `/boards/${id}/cards`, { column_id: column!.id, title: `Card ${i + 1}`, description: 'Some text.', ...more })).id,
    )
  }
  return { cards, origin: client.origin, workspace: workspace.id, id, page: `/app/${workspace.id}/boards/${id}` }
}

/** Signs a person in. @returns the cookies of the session */
async function signIn(origin: string, { email, password }: { readonly email: string; readonly password: string }): Promise<string> {
  const page = await fetch(`${origin}/settings/sign-in`)
  const token = /name="form_token" value="([^"]+)"/.exec(await page.text())![1]!
  const cookiesOf = (response: Response) => response.headers.getSetCookie().map((cookie) => cookie.split(';')[0]!)
  const body = new URLSearchParams({ form_token: token, email, password })
  const headers = { cookie: cookiesOf(page).join('; '), origin, 'sec-fetch-site': 'same-origin' }
  const answer = await fetch(`${origin}/settings/sign-in`, { method: 'POST', body, headers, redirect: 'manual' })
  if (answer.status !== 303) throw new Error(`signing in: ${answer.status}`)
  return cookiesOf(answer).join('; ')
}

/** A stream of updates, as a browser has it. */
interface Watcher {
  bytes: number
  /** Resolves when a tile with this title has come. */
  shown(title: string): Promise<void>
  close(): void
}

function watchAll(board: Board, people: readonly string[], count: number): Promise<Watcher[]> {
  return Promise.all(Array.from({ length: count }, (_none, i) => watch(board, people[i % people.length]!)))
}

async function watch({ origin, workspace, id, page }: Board, cookie: string): Promise<Watcher> {
  const agent = new Agent()
  const get = async (path: string) => {
    const [response] = (await once(request(origin + path, { agent, headers: { cookie } }).end(), 'response')) as [IncomingMessage]
    if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`)
    return response
  }
  const after = /data-after="([^"]+)"/.exec(await text(await get(page)))![1]!
  const stream = await get(`/app/${workspace}/events?${new URLSearchParams({ board: id, after })}`)
  const seen = new Set<string>()
  const waiting = new Map<string, () => void>()
  const watcher: Watcher = {
    bytes: 0,
    shown: (title) => (seen.has(title) ? Promise.resolve() : new Promise((resolve) => waiting.set(title, resolve))),
    close: () => stream.destroy(),
  }
  stream.on('error', () => undefined)
  let rest = ''
  stream.setEncoding('utf8').on('data', (part: string) => {
    watcher.bytes += part.length
    const events = (rest + part).split('\n\n')
    rest = events.pop()!
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1]
      if (data === undefined) continue
      const { update } = JSON.parse(data) as { update: BoardUpdate }
      for (const fragment of Object.values(update.tiles)) {
        const title = /class="tile-title"[^>]*>([^<]*)</.exec(fragment!.html)![1]!
        seen.add(title)
        waiting.get(title)?.()
      }
    }
  })
  return watcher
}
