import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { isReadable, SCHEMA_VERSION } from '../store/migrations/list.ts'
import { AdminError, type CommandIo } from './deps.ts'

/** The version of the export format. */
export const EXPORT_FORMAT = 2
/** The version of the backup format. */
export const BACKUP_FORMAT = 1
/** An export and a backup: the member of the header that has the version of the format, and what the messages say. */
const kinds = {
  export: {
    member: 'lanekeeper_export',
    format: EXPORT_FORMAT,
    name: 'an export',
    otherKind: 'a backup of a whole installation; use "restore"',
    noKind: 'not an export of a workspace',
    one: 'import one workspace at a time',
  },
  backup: {
    member: 'lanekeeper_backup',
    format: BACKUP_FORMAT,
    name: 'a backup',
    otherKind: 'an export of one workspace; use "import"',
    noKind: 'not a backup',
    one: 'restore one backup',
  },
} as const
type ExportKind = keyof typeof kinds
/** How many characters are written before other work runs. */
const STEP = 256 * 1024

const id = z.string().regex(/^[a-z]{3}_[0-9a-z]{20}$/)
/** The version of the records. */
const version = z.int().min(0).optional()
const value = z.record(z.string(), z.unknown())

/**
 * A line of an export or a backup.
 *
 * An export has a header, then users, bytes of files and records, and at last a trailer. The bytes of a file are split over
 * several lines before its record. If they cannot be read to their end, `abandoned` replaces the rest of these lines. A file
 * whose bytes are not in the export is `omitted`.
 *
 * A backup has a header, a section for each workspace with its bytes and records, a section with the records that belong to
 * no workspace, and a trailer. A workspace that could not be read is `omitted_workspace`.
 *
 * The trailer has the number of lines and their SHA-256, so that a truncated or changed file is detected.
 */
const exportLine = z.union([
  z.strictObject({ lanekeeper_export: z.int(), schema: version, workspace_id: id, name: z.string(), exported_at: z.string() }),
  z.strictObject({ user: value.and(z.object({ id })) }),
  z.strictObject({ bytes: z.base64(), blob_id: id, last: z.boolean() }),
  z.strictObject({ abandoned: id }),
  z.strictObject({ omitted: id, name: z.string(), size: z.int(), reason: z.enum(['removed', 'unreadable', 'damaged']) }),
  z.strictObject({ key: z.string().regex(/^[a-z_]+(:[0-9A-Za-z_-]+)*$/), value }),
  z.strictObject({ end: z.literal(true), lines: z.int(), sha256: z.string() }),
  z.strictObject({ lanekeeper_backup: z.int(), schema: version, created_at: z.string() }),
  z.strictObject({ workspace: id }),
  z.strictObject({ omitted_workspace: id }),
  z.strictObject({ installation: z.literal(true) }),
])
export type ExportLine = z.infer<typeof exportLine>

/** A file whose bytes are not in an export. */
export type OmittedFile = Extract<ExportLine, { omitted: unknown }>

/** Writes the lines of an export and computes the trailer. Other work runs between its steps. */
export class ExportWriter {
  readonly #hash = createHash('sha256')
  readonly #io: CommandIo
  #lines = 0
  #written = 0

  constructor(io: CommandIo) {
    this.#io = io
  }

  async write(line: ExportLine): Promise<void> {
    const text = JSON.stringify(line)
    this.#hash.update(text).update('\n')
    this.#lines++
    await this.#io.write(text)
    this.#written += text.length
    if (this.#written < STEP) return
    this.#written = 0
    await nextTurn()
  }

  /** Writes the trailer. */
  async end(): Promise<void> {
    await this.#io.write(JSON.stringify({ end: true, lines: this.#lines, sha256: this.#hash.digest('hex') } satisfies ExportLine))
  }
}

/**
 * Parses the lines of an export or a backup and verifies its trailer, which is not yielded.
 * @throws {AdminError} `invalid`, with the number of the invalid line
 */
export async function* readExport(lines: AsyncIterable<string>, kind: ExportKind): AsyncGenerator<ExportLine> {
  const hash = createHash('sha256')
  let count = 0
  let ended = false
  for await (const text of lines) {
    if (text === '') continue
    if (ended) throw new AdminError('invalid', `line ${count + 2} follows the end of the ${kind}; ${kinds[kind].one}`)
    const line = parseLine(text, count + 1, kind)
    if ('end' in line) {
      if (line.lines !== count || line.sha256 !== hash.digest('hex'))
        throw new AdminError('invalid', `the ${kind} was changed: its checksum does not match`)
      ended = true
      continue
    }
    hash.update(text).update('\n')
    count++
    yield line
  }
  if (!ended) throw new AdminError('invalid', `the ${kind} is incomplete: its last line is missing`)
}

/** What to do with an export or a backup of another version. */
const ADVICE = 'read it with the version of Lanekeeper that wrote it'

/**
 * Reads the first line.
 * @returns the header, and the version of the records
 * @throws {AdminError} `invalid` if this version of Lanekeeper does not read the rest
 */
export async function readHeader<Kind extends ExportKind>(
  lines: AsyncGenerator<ExportLine>,
  kind: Kind,
): Promise<{ header: Extract<ExportLine, Record<(typeof kinds)[Kind]['member'], number>>; schema: number }> {
  const { member, format, otherKind, noKind } = kinds[kind]
  const header = ((await lines.next()).value ?? {}) as Readonly<Record<string, unknown>> & { readonly schema?: number }
  if (!(member in header)) {
    const isOther = Object.values(kinds).some((other) => other.member in header)
    throw new AdminError('invalid', `the input is ${isOther ? otherKind : noKind}`)
  }
  const { [member]: found, schema = 0 } = header
  const refuse = (what: string, read: string): AdminError =>
    new AdminError('invalid', `the ${kind} has ${what}, and this version of Lanekeeper reads ${read}: ${ADVICE}`)
  if (found !== format) throw refuse(`format ${String(found)}`, `format ${format}`)
  if (!isReadable(schema)) throw refuse(`records of version ${schema}`, `version ${SCHEMA_VERSION}`)
  return { header: header as never, schema }
}

function parseLine(text: string, number: number, kind: ExportKind): ExportLine {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new AdminError('invalid', `line ${number} of the ${kind} is not valid JSON`)
  }
  const parsed = exportLine.safeParse(json)
  if (!parsed.success) throw new AdminError('invalid', `line ${number} is not a valid line of ${kinds[kind].name}`)
  return parsed.data
}
