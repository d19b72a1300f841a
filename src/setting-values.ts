import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { BadAddress, kindOf } from './store/open.ts'

// The values of settings, as text from the command line or the environment.

export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const

export const quoted =
  (expected: string) =>
  ({ input }: { readonly input?: unknown }): string =>
    `"${String(input)}" is not ${expected}`

export const onOrOff = (byDefault: 'on' | 'off') =>
  z
    .enum(['on', 'off'], { error: quoted('on or off') })
    .default(byDefault)
    .transform((value) => value === 'on')

export const wholeNumber = (min: number, max: number, expected: string) =>
  z
    .string()
    .refine((text) => text !== '' && Number.isInteger(Number(text)) && Number(text) >= min && Number(text) <= max, {
      error: quoted(expected),
    })
    .transform(Number)

// The message does not repeat the address, which may contain a password.
export const storageAddress = z.string().superRefine((address, context) => {
  try {
    kindOf(address)
  } catch (error) {
    context.addIssue(error instanceof BadAddress ? error.message : 'the address is invalid')
  }
})
export const hostName = z.string().regex(/^(?!-)[a-zA-Z0-9.:-]{1,63}(?<!-)$/, { error: quoted('a host name or an IP address') })
export const rate = wholeNumber(1, 1_000_000_000, 'a whole number, 1 or more')
export const port = wholeNumber(0, 65_535, 'a port number from 0 to 65535')
// The message does not repeat the URL, which may contain a password.
export const origin = z
  .string()
  .refine((text) => isOrigin(text), { error: 'it must be a URL like https://kanban.example, without a path' })
  .transform((text) => new URL(text).origin)
// The message does not repeat the URL, which may contain a password.
export const smtpUrl = z.string().refine((text) => URL.canParse(text) && /^smtps?:$/.test(new URL(text).protocol), {
  error: 'it must be a URL like smtp://mail.example:587 or smtps://name:password@mail.example',
})
export const mailSender = z.string().regex(/^[^\r\n]{0,100}@[^\s<>]{1,200}>?$/, { error: quoted('an e-mail address') })
export const hostAndPort = z
  .string()
  .transform(splitHostAndPort)
  .pipe(z.object({ host: hostName, port }))
export const prefixes = z
  .string()
  .transform((text) => text.split(',').flatMap((prefix) => prefix.trim() || []))
  .pipe(z.array(z.string().regex(/^[a-z0-9]{1,20}$/, { error: quoted('a prefix of 1 to 20 lower-case letters and digits') })))

export const workers = z
  .string()
  .transform((text) => (text === 'auto' ? String(availableParallelism()) : text))
  .pipe(wholeNumber(1, 256, 'auto, or a number of processes from 1 to 256'))

function isOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href
}

function splitHostAndPort(text: string): { host: string; port: string } {
  const colon = text.lastIndexOf(':')
  const host = colon === -1 ? '127.0.0.1' : text.slice(0, colon).replace(/^\[(.*)\]$/, '$1')
  return { host, port: text.slice(colon + 1) }
}
