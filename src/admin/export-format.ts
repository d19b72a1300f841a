import { createHash } from 'node:crypto'
import { z } from 'zod'
import { AdminError, type CommandIo } from './deps.ts'

/** The version of the export format. */
export const EXPORT_FORMAT = 2

const id = z.string().regex(/^[a-z]{3}_[0-9a-z]{20}$/)
const value = z.record(z.string(), z.unknown())

/**
 * A line of an export. The header is first, then come users, bytes of files and records, and the trailer is last. The
 * trailer has the number of lines and their SHA-256, so that a truncated or changed export is detected. The bytes of a
 * file are split over several lines. If garbage collection removes the file during the export, `abandoned` replaces the
 * rest of its lines.
 */
const exportLine = z.union([
  z.strictObject({ lanekeeper_export: z.int(), workspace_id: id, name: z.string(), exported_at: z.string() }),
  z.strictObject({ user: value.and(z.object({ id })) }),
  z.strictObject({ bytes: z.base64(), blob_id: id, last: z.boolean() }),
  z.strictObject({ abandoned: id }),
  z.strictObject({ key: z.string().regex(/^[a-z_]+(:[0-9A-Za-z_]+)*$/), value }),
  z.strictObject({ end: z.literal(true), lines: z.int(), sha256: z.string() }),
])
export type ExportLine = z.infer<typeof exportLine>

/** Writes the lines of an export and computes the trailer. */
export class ExportWriter {
  readonly #hash = createHash('sha256')
  readonly #io: CommandIo
  #lines = 0

  constructor(io: CommandIo) {
    this.#io = io
  }

  async write(line: ExportLine): Promise<void> {
    const text = JSON.stringify(line)
    this.#hash.update(text).update('\n')
    this.#lines++
    await this.#io.write(text)
  }

  /** Writes the trailer. */
  async end(): Promise<void> {
    await this.#io.write(JSON.stringify({ end: true, lines: this.#lines, sha256: this.#hash.digest('hex') } satisfies ExportLine))
  }
}

/**
 * Parses the lines of an export and verifies its trailer, which is not yielded.
 * @throws {AdminError} `invalid`, with the number of the invalid line
 */
export async function* readExport(lines: AsyncIterable<string>): AsyncGenerator<ExportLine> {
  const hash = createHash('sha256')
  let count = 0
  let ended = false
  for await (const text of lines) {
    if (text === '') continue
    if (ended) throw new AdminError('invalid', `line ${count + 2} follows the end of the export; import one workspace at a time`)
    const line = parseLine(text, count + 1)
    if ('end' in line) {
      if (line.lines !== count || line.sha256 !== hash.digest('hex'))
        throw new AdminError('invalid', 'the export was changed: its checksum does not match')
      ended = true
      continue
    }
    hash.update(text).update('\n')
    count++
    yield line
  }
  if (!ended) throw new AdminError('invalid', 'the export is incomplete: its last line is missing')
}

function parseLine(text: string, number: number): ExportLine {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new AdminError('invalid', `line ${number} of the export is not valid JSON`)
  }
  const parsed = exportLine.safeParse(json)
  if (!parsed.success) throw new AdminError('invalid', `line ${number} is not a valid line of an export`)
  return parsed.data
}
