import { hash } from 'node:crypto'
import { parse } from 'node:path'
import { importLines } from '../../admin/board-import.ts'
import { AdminError } from '../../admin/deps.ts'
import { UNIT_BYTES } from '../../governor/cost.ts'
import { requestsOfImport } from '../../http/member-requests.ts'
import { partsOf } from '../../http/multipart.ts'
import type { Done } from '../../http/outcome.ts'
import type { BoardReading } from '../../importers/board-reading.ts'
import type { ImportChoices } from '../../importers/read-board.ts'
import { visibilities } from '../../model/board.ts'
import { readPeople } from '../boards/people.ts'
import { SEND_AGAIN } from '../earlier-forms.ts'
import { errorPage } from '../error-pages.ts'
import type { Refusal } from '../form-page.ts'
import type { FormRest, Page, PageResponse, SignedInContext } from '../page-context.ts'
import { ifFound, readerOf, sentBy, type Reader } from '../reader.ts'
import { renderImported } from './report-view.ts'
import { renderImportForm, inWords } from './form.ts'

/** The largest file that is read here, in bytes. */
const MOST_BYTES = 10 * 1024 * 1024
const OPERATION = 'boards.create'

/**
 * Imports a board of another program as a new board of the person. A file is checked first, and nothing is written; then it is sent once
 * more, with `?import`.
 */
export const importPage: Page = {
  path: '/app/{workspace}/import',
  callsOperations: true,
  get: (context) => ifFound(context, OPERATION, () => withPermission(context, (reader) => renderImportForm(reader))),
  post: (context) => ifFound(context, OPERATION, () => withPermission(context, take)),
  showAgain: (context) =>
    ifFound(context, OPERATION, () => withPermission(context, (reader) => renderImportForm(reader, { error: SEND_AGAIN, status: 403 }))),
}

async function withPermission(
  context: SignedInContext,
  respond: (reader: Reader) => PageResponse | Promise<PageResponse>,
): Promise<PageResponse> {
  const reader = readerOf(context)
  if ((await reader.allowed('workspace', 'me')).has(OPERATION)) return respond(reader)
  return errorPage(403, 'You may not do this', 'The policy does not allow you to create boards here.')
}

/** Checks a file, or imports it. */
async function take(reader: Reader): Promise<PageResponse> {
  const { web, session, work, form, query, upload } = reader.context
  const refuse = (error: string, more: Refusal = {}) => ({ ...renderImportForm(reader, { error, ...more }), audit: false as const })
  const file = upload && (await readFile(upload))
  if (file === undefined) return refuse('Choose a file.')
  if (file.bytes === undefined)
    return refuse('The file has more than 10 MB. An operator can import it with the command lanekeeper import.', { status: 413 })
  work.read += Math.ceil(file.bytes.length / UNIT_BYTES)
  const { members: users } = await readPeople(reader)
  const choices = { ...choicesOf(form), fileName: parse(file.name).name }
  const reading = await web.readBoardFile({ bytes: file.bytes, choices, userId: session.user_id, users })
  if ('refused' in reading) return refuse(inWords(reading.refused))
  if (!query.has('import')) return { ...renderImportForm(reader, {}, { reading, users }), audit: false }
  const wait = web.imports.take(session.user_id)
  if (wait > 0)
    return refuse(`You have imported many boards. Import the next one in ${Math.ceil(wait / 60_000)} minutes.`, {
      status: 429,
      headers: { 'retry-after': String(Math.ceil(wait / 1000)) },
    })
  try {
    return { ...renderImported(reader, reading.result, await perform(reader, reading)), audit: false }
  } catch (error) {
    if (error instanceof ImportedBefore) return { redirect: `${reader.base}/boards/${error.boardId}`, audit: false }
    if (error instanceof AdminError) return refuse(`The board was not imported: ${error.message}`)
    throw error
  }
}

/** The same form was sent before. */
class ImportedBefore extends Error {
  readonly boardId: string

  constructor(boardId: string) {
    super('imported before')
    this.boardId = boardId
  }
}

/** Makes the board with requests of the person. @returns its id */
async function perform({ context, workspaceId, answer }: Reader, { lines }: BoardReading): Promise<string> {
  const { web, session, request, form, work } = context
  const send = requestsOfImport(web.services, workspaceId, session.user_id, {
    surface: 'web_app',
    headers: sentBy(request),
    ip: request.ip,
  })
  const key = hash('sha256', `${OPERATION}?import=${form.get('form_key') ?? ''}`)
  const created = await importLines(send, { lines: each(lines), progress: () => undefined }, async (body) => {
    const found = await answer(OPERATION, { body, key })
    // The requests that follow have turns of their own, and would wait for this one: it waits for them.
    work.turn.leave()
    if (found.kind === 'replayed') throw new ImportedBefore((found.first.data as { id: string }).id)
    return ((found as Done).data as { id: string }).id
  })
  return created.board_id
}

async function* each(lines: string): AsyncGenerator<string> {
  for (let at = 0; at < lines.length;) {
    const end = lines.indexOf('\n', at)
    yield lines.slice(at, end === -1 ? undefined : end)
    at = end === -1 ? lines.length : end + 1
  }
}

/** What the fields of the form say. Empty ones say nothing. */
function choicesOf(form: URLSearchParams): ImportChoices {
  const all = (name: string) => form.getAll(name).filter((text) => text !== '')
  const map = (form.get('map') ?? '').split('\n').map((line) => line.trim())
  return {
    from: form.get('from') ?? '',
    members: all('member'),
    visibility: visibilities.find((one) => one === form.get('access')),
    done: all('done'),
    map: map.filter((line) => line !== ''),
  }
}

/**
 * Reads the file of the form.
 * @returns undefined if there is none; without bytes if it is too large
 */
async function readFile({ type, body }: FormRest): Promise<{ readonly name: string; readonly bytes: Uint8Array | undefined } | undefined> {
  for await (const { name, fileName, bytes } of partsOf(type, body)) {
    if (name !== 'file') continue
    const parts: Uint8Array[] = []
    let size = 0
    for await (const part of bytes) {
      size += part.length
      if (size > MOST_BYTES) return { name: '', bytes: undefined }
      parts.push(part)
    }
    return size === 0 ? undefined : { name: fileName ?? '', bytes: Buffer.concat(parts) }
  }
  return undefined
}
