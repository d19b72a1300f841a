import { createHmac } from 'node:crypto'
import { equalInConstantTime } from '../auth/secrets.ts'
import { MINUTE } from '../model/time.ts'
import { formCookie } from './forms.ts'
import type { PageContext } from './page-context.ts'

/** How long a page tells what was done, in milliseconds. */
const LIFETIME = 10 * MINUTE
/** The parameters of an address that say until when it tells that, in milliseconds since 1970, and that this web app has made it. */
const [UNTIL, SIGNED] = ['until', 'signed']

/**
 * The address of a page that tells what was done just before. It is signed for this browser: a link of somebody else tells nothing.
 * @param path of the page, without a query
 */
export function tellingAddress(context: PageContext, path: string, told: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams({ ...told, [UNTIL]: String(context.web.clock() + LIFETIME) })
  query.append(SIGNED, signatureOf(context, path, query) ?? '')
  return `${path}?${query}`
}

/** What the address of a page says that was done just before. It is empty unless {@link tellingAddress} has made it for this browser. */
export function toldBy(context: PageContext): URLSearchParams {
  const { web, path, query } = context
  const told = new URLSearchParams(query)
  told.delete(SIGNED)
  const signature = signatureOf(context, path, told)
  const isOwn = signature !== undefined && equalInConstantTime(query.get(SIGNED) ?? '', signature)
  return isOwn && web.clock() < Number(told.get(UNTIL)) ? told : new URLSearchParams()
}

/**
 * The form token is known to this web app and to the pages of this browser alone.
 * @returns undefined: it has none
 */
function signatureOf(context: PageContext, path: string, told: URLSearchParams): string | undefined {
  const key = context.session?.form_token ?? formCookie(context)
  return key === undefined ? undefined : createHmac('sha256', key).update(`told ${path}?${told}`).digest('base64url')
}
