import { readFile } from 'node:fs/promises'
import { lazy } from '../../model/lazy.ts'
import { packageFile } from '../../model/package-files.ts'

/** What a password of a person must not mainly consist of. */
export interface PasswordContext {
  readonly email: string
  readonly name: string
}

/** Words of the service, which are the first that someone would guess here (ASVS 5.0, 6.1.2 and 6.2.11). */
const SERVICE_WORDS = ['lanekeeper', 'kanban']
/** Shorter words, such as initials, occur in good passwords too. */
const SHORTEST_WORD = 3
/** The number of letters and digits that a password needs in addition to the words of its context. */
const REST = 8

/**
 * Why a person cannot use a new password: it is a common one, or little remains of it without their name, their e-mail address
 * and the name of the service. There are no rules on characters.
 * @returns undefined if they can
 */
export async function weaknessOf(password: string, context: PasswordContext): Promise<string | undefined> {
  if (isMainlyContext(password, context))
    return 'is too easy to guess: it consists mainly of your name, your e-mail address or the name of this service. Choose another one'
  if (await isCommonPassword(password)) return 'is one of the most common passwords. Choose another one'
  return undefined
}

/** Whether a password has a word of its context, and fewer than eight other letters and digits. */
function isMainlyContext(password: string, context: PasswordContext): boolean {
  const lowered = password.normalize('NFC').toLowerCase()
  let rest = lowered
  for (const word of wordsOf(context)) rest = rest.replaceAll(word, ' ')
  return rest !== lowered && rest.replaceAll(/[^\p{L}\p{N}]/gu, '').length < REST
}

/** The words of a person's context, longest first. */
function wordsOf({ email, name }: PasswordContext): string[] {
  const at = email.lastIndexOf('@')
  const parts = [email.slice(0, at), email.slice(at + 1), name].flatMap((text) =>
    text
      .normalize('NFC')
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u),
  )
  const words = [email, email.slice(0, at), ...parts, ...SERVICE_WORDS].map((word) => word.toLowerCase())
  return [...new Set(words)].filter((word) => word.length >= SHORTEST_WORD).toSorted((a, b) => b.length - a.length)
}

/** The most frequent passwords of published breaches that are long enough for a new password, one per line, in lower case. */
const list = lazy(() => readFile(packageFile('fixtures/common-passwords.txt')))

/** Whether a password is one of the most common ones, in whatever case it is written. */
export async function isCommonPassword(password: string): Promise<boolean> {
  return (await list()).includes(`\n${password.toLowerCase()}\n`)
}
