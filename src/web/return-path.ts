import { MINUTE } from '../model/time.ts'
import { cookieName, setCookie } from './cookies.ts'
import { readForm } from './forms.ts'
import type { Page, PageContext, PageResponse } from './page-context.ts'

/** How long a page waits for the person to sign in, in seconds. */
const RETURN_COOKIE_AGE = (10 * MINUTE) / 1000
const MAX_LENGTH = 2000
/** An address of the web app, in characters that no browser changes: no empty segment, no backslash, no dot segment. */
const ADDRESS = /^\/(?:app|settings)(?:\/\w[\w.~%-]*)*(?:\?[\w.~%!'()*+:@=&-]*)?$/
/** Pages that are no place to return to. */
const NO_RETURN = /^\/settings\/sign-/

/**
 * The address to which a person returns after signing in: what they asked for before. A cookie has it and no link does, so that
 * only this web app chooses it.
 * @returns undefined unless it is a page of this web app
 */
export function returnPath({ cookies, origin }: PageContext): string | undefined {
  return validAddress(cookies.get(cookieName('return', origin)) ?? '')
}

/** The Set-Cookie headers for a person who has returned, or who has left. */
export function forgetReturn({ cookies, origin }: Pick<PageContext, 'cookies' | 'origin'>): string[] {
  return cookies.has(cookieName('return', origin)) ? [setCookie('return', '', origin, 0)] : []
}

/**
 * Sends a person to the sign-in page who has asked for another one. They come back to it, with the fields of the form that the page
 * keeps. If the session has ended, the page says so.
 */
export async function signInFirst(page: Page, context: PageContext): Promise<PageResponse> {
  const { request, path, origin, cookies } = context
  const redirect = `/settings/sign-in${cookies.has(cookieName('session', origin)) ? '?over' : ''}`
  const isForm = request.method === 'POST'
  // A form of another site must not choose what the person finds filled in.
  if (page.get === undefined || (isForm && request.headers.get('origin') !== origin)) return { redirect }
  const query = isForm ? await keptFields(request, page.keeps ?? []) : context.query
  const address = validAddress(path + (query.size === 0 ? '' : `?${query}`))
  return { redirect, cookies: address === undefined ? [] : [setCookie('return', address, origin, RETURN_COOKIE_AGE)] }
}

function validAddress(text: string): string | undefined {
  return text.length <= MAX_LENGTH && ADDRESS.test(text) && !NO_RETURN.test(text) ? text : undefined
}

async function keptFields(request: PageContext['request'], names: readonly string[]): Promise<URLSearchParams> {
  const form = await readForm(request).catch(() => new URLSearchParams())
  return new URLSearchParams(names.flatMap((name) => (form.has(name) ? [[name, form.get(name)!]] : [])))
}
