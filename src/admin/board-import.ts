import { ApiError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { StorageUnavailable } from '../store/port.ts'
import { boardLine, type BoardHead, type BoardLine, type BoardOperation, type FilePart } from './board-lines.ts'
import { AdminError, type AdminDeps, type CommandIo, type SendRequest } from './deps.ts'
import { listMembers } from './memberships.ts'

/** Bytes of a batch's operations and of their results: far below the limits of a request and a response. */
const BATCH_BYTES = limits.jsonBytes / 2
/** The description of a board until everything is on it. */
const UNFINISHED =
  'This board is being imported. If nothing more appears on it, the import was interrupted: delete the board, and import it again.'

/**
 * Creates a board in a workspace from the lines of `board-lines.ts`, with requests of a member: see {@link importLines}.
 * @param workspaceId the workspace
 * @param userId the creator of everything, an active member
 * @throws {AdminError} `not_found`, and as {@link importLines}
 */
export async function importBoard(
  deps: AdminDeps,
  { workspace: workspaceId, user: userId }: { readonly workspace: string; readonly user: string },
  io: CommandIo,
): Promise<{ readonly board_id: string }> {
  const members = await listMembers(deps, workspaceId)
  if (!members.some(({ user_id }) => user_id === userId)) throw new AdminError('not_found', `${userId} is not a member of ${workspaceId}`)
  if (deps.sendAs === undefined) throw new TypeError('this process makes no requests')
  return importLines(deps.sendAs(workspaceId, userId), io)
}

/**
 * Creates a board from the lines of `board-lines.ts`. An import that fails deletes the board. An import into a board that exists can be
 * repeated instead.
 * @param create creates the empty board; default: with a request
 * @throws {AdminError} `conflict` if a request conflicts with something; `invalid` if the lines are not a whole board
 */
export async function importLines(
  sendRequest: SendRequest,
  io: Pick<CommandIo, 'lines' | 'progress'>,
  create: (board: { readonly name: string; readonly description: string }) => Promise<string> = async (board) =>
    ((await sendRequest('POST', '/boards', board)) as { id: string }).id,
): Promise<{ readonly board_id: string }> {
  const send = withOperatorErrors(sendRequest)
  const lines = readLines(io.lines)
  const head = (await lines.next()).value
  if (head !== undefined && 'into' in head) {
    await perform(lines, send, head.into, io)
    return { board_id: head.into }
  }
  if (head === undefined || !('board' in head)) throw new AdminError('invalid', 'the lines have no board')
  const id = await withOperatorError('POST /boards', () => create({ name: head.board.name, description: UNFINISHED }))
  try {
    await open(send, id, head.board)
    await perform(lines, send, id, io)
    await send('PATCH', `/boards/${id}`, { description: head.board.description })
  } catch (error) {
    await send('DELETE', `/boards/${id}`).catch((reason: Error) => {
      throw new AdminError(
        'conflict',
        `${(error as Error).message}; the board ${id} remains, because it could not be deleted: ${reason.message}`,
      )
    })
    throw error
  }
  return { board_id: id }
}

/** Performs the operations of lines on a board, and uploads their files. */
async function perform(lines: AsyncIterable<BoardLine>, send: SendRequest, id: string, io: Pick<CommandIo, 'progress'>): Promise<void> {
  const batches = new Batches(send, id)
  const files = new Files(send)
  for await (const line of lines) {
    if ('file' in line) {
      if (await files.add(line, batches)) io.progress(`${files.count} files`)
      continue
    }
    if (!('operation' in line)) throw new AdminError('invalid', 'the lines have more than one board')
    if (await batches.add(line)) io.progress(`${batches.count} operations`)
  }
  await batches.flush()
}

/** Gives a board its visibility and its members. Before that, there is nothing on it to see. */
async function open(send: SendRequest, id: string, { visibility, members }: BoardHead): Promise<void> {
  await send('PUT', `/boards/${id}/visibility`, { visibility })
  for (const userId of members) await send('PUT', `/boards/${id}/members/${userId}`)
}

/** Files of attachments: each is uploaded when its last part has come. */
class Files {
  readonly #send: SendRequest
  #parts: Uint8Array<ArrayBuffer>[] = []
  count = 0

  constructor(send: SendRequest) {
    this.#send = send
  }

  /**
   * Takes a part of a file.
   * @param batches what was done before: the card must be there
   * @returns whether it is the last one
   */
  async add({ file: { card_id, name }, bytes, last }: FilePart, batches: Batches): Promise<boolean> {
    this.#parts.push(new Uint8Array(Buffer.from(bytes, 'base64')))
    if (!last) return false
    await batches.flush()
    const form = new FormData()
    form.set('file', new Blob(this.#parts), name)
    this.#parts = []
    await this.#send('POST', `/cards/${batches.idOf(card_id)}/files`, form)
    this.count++
    return true
  }
}

/** Operations on a board, in batches. */
class Batches {
  readonly #send: SendRequest
  readonly #boardId: string
  /** how long each operation is, in bytes */
  readonly #sizes: number[] = []
  /** the records that the performed operations have created or changed */
  readonly #ids: string[] = []
  #waiting: BoardOperation[] = []
  #bytes = 0

  constructor(send: SendRequest, boardId: string) {
    this.#send = send
    this.#boardId = boardId
  }

  /** How many operations were performed. */
  get count(): number {
    return this.#ids.length
  }

  /**
   * Takes an operation, and performs those before it if they are enough.
   * @returns whether it did
   */
  async add(operation: BoardOperation): Promise<boolean> {
    const size = Buffer.byteLength(JSON.stringify(operation))
    // To complete a card, for example, is answered with the whole card.
    const bytes = Math.max(size, ...Object.values(operation.params).map((text) => this.#sizes[numberIn(text) ?? -1] ?? 0))
    const isFull =
      this.#waiting.length === limits.batchOperations ||
      (this.#waiting.length > 0 && (this.#bytes + bytes > BATCH_BYTES || this.#namesWaiting(operation)))
    if (isFull) await this.flush()
    this.#waiting.push(operation)
    this.#sizes.push(size)
    this.#bytes += bytes
    return isFull
  }

  /** Performs the operations that wait. */
  async flush(): Promise<void> {
    if (this.#waiting.length === 0) return
    const operations = this.#waiting.map(({ operation, params, body, texts }) => ({
      operation,
      params: this.#resolve(params),
      ...((body ?? texts) !== undefined && { body: { ...this.#resolve(body ?? {}), ...this.#joined(texts ?? {}) } }),
    }))
    const answer = await this.#send('POST', `/boards/${this.#boardId}/batch`, { operations })
    for (const { data } of (answer as { results: { data: { id: string } }[] }).results) this.#ids.push(data.id)
    this.#waiting = []
    this.#bytes = 0
  }

  /** The id of what an operation has created. */
  idOf(text: string): string {
    return this.#ids[numberIn(text) ?? -1] ?? text
  }

  /** Whether a text needs an id that there is only after the operations that wait. */
  #namesWaiting({ texts }: BoardOperation): boolean {
    const pieces = Object.values(texts ?? {}).flat()
    return pieces.some((piece) => typeof piece !== 'string' && (numberIn(piece.id) ?? 0) >= this.#ids.length)
  }

  /** Makes texts of their pieces. */
  #joined(texts: NonNullable<BoardOperation['texts']>): Record<string, string> {
    const textOf = (piece: string | { readonly id: string }) => (typeof piece === 'string' ? piece : this.idOf(piece.id))
    return Object.fromEntries(Object.entries(texts).map(([name, pieces]) => [name, pieces.map(textOf).join('')]))
  }

  /** Replaces the numbers of operations in members that are ids: by ids, or by the numbers that they have in the batch. */
  #resolve(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const idOf = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(idOf)
      const number = typeof value === 'string' ? numberIn(value) : undefined
      return number === undefined ? value : (this.#ids[number] ?? `$${number - this.#ids.length}`)
    }
    return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, /_ids?$/.test(name) ? idOf(value) : value]))
  }
}

function numberIn(text: string): number | undefined {
  const [, number] = /^\$(\d{1,9})$/.exec(text) ?? []
  return number === undefined ? undefined : Number(number)
}

/** The same requests, whose errors an operator reads. */
function withOperatorErrors(send: SendRequest): SendRequest {
  return (...asked) => withOperatorError(`${asked[0]} ${asked[1]}`, () => send(...asked))
}

async function withOperatorError<Data>(request: string, send: () => Promise<Data>): Promise<Data> {
  try {
    return await send()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code === 'unavailable') throw new StorageUnavailable(error.message)
    const { code, message, details } = error
    const issues = Object.entries(details.members ?? {}).map(([name, value]) => `${name} ${JSON.stringify(value)}`)
    const text = [`${request}: ${message}`, ...issues].join('; ')
    throw new AdminError(code === 'not_found' || code === 'conflict' ? code : 'invalid', text)
  }
}

/** @throws {AdminError} `invalid` if a line is malformed */
async function* readLines(lines: AsyncIterable<string>): AsyncGenerator<BoardLine> {
  let count = 0
  for await (const text of lines) {
    const parsed = boardLine.safeParse(parseJson(text))
    if (!parsed.success) throw new AdminError('invalid', `line ${count + 1} is not a valid line of a board`)
    count++
    yield parsed.data
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
