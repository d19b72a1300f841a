import { createHash } from 'node:crypto'
import { exportLine, type ExportLine } from './export.ts'
import { AdminError } from './deps.ts'

/**
 * The lines of an export up to the last one, which must say how many there were and what they were.
 * @throws {AdminError} `invalid`, with the line that is wrong
 */
export async function* checkedLines(lines: AsyncIterable<string>): AsyncGenerator<ExportLine> {
  const hash = createHash('sha256')
  let count = 0
  let ended = false
  for await (const text of lines) {
    if (text === '') continue
    if (ended) throw new AdminError('invalid', `line ${count + 2} stands behind the end of the export: one workspace at a time`)
    const line = parse(text, count + 1)
    if ('end' in line) {
      if (line.lines !== count || line.sha256 !== hash.digest('hex'))
        throw new AdminError('invalid', 'the export was changed: its checksum does not fit')
      ended = true
      continue
    }
    hash.update(text).update('\n')
    count++
    yield line
  }
  if (!ended) throw new AdminError('invalid', 'the export is not whole: its last line is missing')
}

function parse(text: string, number: number): ExportLine {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new AdminError('invalid', `line ${number} of the export is no JSON`)
  }
  const parsed = exportLine.safeParse(json)
  if (!parsed.success) throw new AdminError('invalid', `line ${number} is none of an export`)
  return parsed.data
}
