import { readFile } from 'node:fs/promises'
import { lazy } from '../../model/lazy.ts'
import { packageFile } from '../../model/package-files.ts'

/** The most frequent passwords of published breaches that are long enough for a new password, one per line, in lower case. */
const list = lazy(() => readFile(packageFile('fixtures/common-passwords.txt')))

/** Whether a password is one of the most common ones, in whatever case it is written. */
export async function isCommonPassword(password: string): Promise<boolean> {
  return (await list()).includes(`\n${password.toLowerCase()}\n`)
}
