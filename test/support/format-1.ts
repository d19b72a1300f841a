import { readFileSync } from 'node:fs'
import { createApp } from '../../src/app.ts'
import { cookieName } from '../../src/web/cookies.ts'
import type { StorageHandle } from '../../src/store/open.ts'
import { quiet } from './log.ts'
import { fixtureRoot } from './old-format.ts'
import { cheapPasswords, engine } from './service.ts'

export const root = fixtureRoot('format-1')

interface Known {
  /** the time at which the fixture was complete */
  readonly now: string
  readonly workspaces: { readonly Acme: string; readonly Globex: string; readonly interrupted: string }
  readonly people: { readonly email: string; readonly password: string; readonly session: string }
  /** tokens without their prefix: by caller and scope, or by name */
  readonly tokens: Readonly<Record<string, string | Readonly<Record<string, string>>>>
}

/** What the code of the fixture has answered to a GET. */
export interface Answer {
  readonly caller: string
  readonly scope?: string
  readonly path: string
  readonly status: number
  readonly etag: string | null
  /** the data, the code of the error, or the bytes */
  readonly body: unknown
}

const read = (name: string) => readFileSync(root + name, 'utf8')
const linesOf = (name: string) => read(name).trimEnd().split('\n')

export const known = JSON.parse(read('known.json')) as Known
/** Without the requests that the API has replaced since. */
export const answers = linesOf('answers.jsonl')
  .map((line) => JSON.parse(line) as Answer)
  .filter(({ path }) => !path.includes('updated_since='))
/** The keys of the records of each partition, and the ids of all bytes, after the garbage collection of the fixture's code. */
export const collected = JSON.parse(read('collected.json')) as { records: Record<string, string[]>; blobs: string[] }
export const exportLines = (workspace: 'Acme' | 'Globex') => linesOf(`${workspace.toLowerCase()}.jsonl`)

/** What the code of the fixture did not answer about an attachment, and its ETag did not cover: the owner and visibility of its file. */
const ATTACHMENTS = /\/attachments(\/\w+)?$/
function withoutFile(body: any): unknown {
  if (Array.isArray(body)) return body.map(withoutFile)
  const { owner_id, visibility, ...rest } = body
  return owner_id.startsWith('usr_') && /^(workspace|board|private)$/.test(visibility) ? rest : body
}

/** What the code of the fixture did not answer about a card, and its ETag does not cover: that it is not known who completed it. */
function withoutCompleter(body: any): unknown {
  if (Array.isArray(body)) return body.map(withoutCompleter)
  const { completed_by_id, ...rest } = body ?? {}
  return completed_by_id === null ? rest : body
}

/** The service on opened storage, at the time of the fixture. */
export function serviceOf({ store, blobs }: Pick<StorageHandle, 'store' | 'blobs'>) {
  const app = createApp({ store, blobs, log: quiet, engine, passwords: cheapPasswords, clock: () => Date.parse(known.now) })
  const fetch = (path: string, init: RequestInit = {}) => app.fetch(new Request(`http://localhost${path}`, init))
  return {
    app,
    fetch,
    /** The answer to the same request. */
    async answer({ caller, scope, path }: Answer): Promise<Answer> {
      const tokens = known.tokens[caller]!
      const token = typeof tokens === 'string' ? tokens : tokens[scope!]
      const response = await fetch(`/v1${path}`, { headers: { authorization: `Bearer lk_pat_${token}` } })
      await app.services.usage.settled()
      const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
      const body = isJson ? await response.json() : await response.text()
      const { status, headers, ok } = response
      const data = ok && ATTACHMENTS.test(path) ? withoutFile(body.data) : withoutCompleter(body.data)
      return {
        caller,
        ...(scope !== undefined && { scope }),
        path,
        status,
        // Its lists had no ETags.
        etag: headers.get('etag')?.startsWith('W/') === true ? null : (headers.get('etag')?.replace(/\.[wbp]"$/, '"') ?? null),
        body: isJson ? (ok ? data : body.error.code) : body,
      }
    },
    /** A page of the web app, as the user of the fixture's session sees it. */
    async page(path: string, secret = known.people.session): Promise<string> {
      const response = await fetch(path, { headers: { cookie: `${cookieName('session', 'http://localhost')}=${secret}` } })
      return response.text()
    },
  }
}
