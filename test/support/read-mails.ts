import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { ReceivedMail } from './mail-server.ts'
import { requirePython } from './python.ts'

/** A mail as another library than the one that made it reads it. */
export interface ReadMail {
  /** of the whole mail, such as `multipart/alternative` */
  readonly type: string
  /** what violates the standards */
  readonly defects: readonly string[]
  /** decoded, in their order */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly parts: readonly (readonly [type: string, charset: string | null, text: string])[]
  /** the plain text, where lines that were broken are whole */
  readonly lines: readonly string[]
  /** of its HTML */
  readonly elements: readonly (readonly [tag: string, attributes: Readonly<Record<string, string>>])[]
  readonly links: readonly { readonly href: string; readonly text: string }[]
  /** the lines that its HTML shows */
  readonly shown: readonly string[]
}

/** Reads mails with the library of Python. */
export function readMails(mails: readonly ReceivedMail[]): readonly ReadMail[] {
  requirePython()
  const input = JSON.stringify(mails.map(({ source }) => source))
  const script = fileURLToPath(new URL('read-mails.py', import.meta.url))
  return JSON.parse(execFileSync('python3', [script], { input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }))
}

/** The value of a header; undefined: the mail does not have it. */
export function headerOf({ headers }: ReadMail, name: string): string | undefined {
  return headers.find(([one]) => one === name)?.[1]
}
