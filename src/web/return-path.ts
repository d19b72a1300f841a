import { MINUTE } from '../model/time.ts'
import { cookieOf, setCookie } from './cookies.ts'
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
 * The address that a person returns to after signing in: the one they asked for before. A cookie has it and no link does, so that
 * only this web app chooses it.
 * @returns undefined unless it is a page of this web app
 */
export function returnPath(context: PageContext): string | undefined {
  return validAddress(cookieOf(context, 'return') ?? '')
}

/** Removes the cookie of a person who has returned, or who has left. */
export function forgetReturn(context: PageContext): void {
  if (cookieOf(context, 'return') !== undefined) setCookie(context, 'return', '', 0)
}

/**
 * Sends a person to the sign-in page who has asked for another one. They come back to it, with the fields of the form that the page
 * keeps. If the session has ended, the page says so.
 */
export async function signInFirst(page: Page, context: PageContext): Promise<PageResponse> {
  const { request, path, origin } = context
  const redirect = `/settings/sign-in${cookieOf(context, 'session') === undefined ? '' : '?over'}`
  const isForm = request.method === 'POST'
  // A form of another site must not choose what the person finds filled in.
  if (page.get === undefined || (isForm && request.headers.get('origin') !== origin)) return { redirect }
  const form = isForm ? await readForm(request).catch(() => new URLSearchParams()) : undefined
  const address = validAddress(addressOf(path, form === undefined ? context.query : keptFields(form, page.keeps)))
  if (address !== undefined) setCookie(context, 'return', address, RETURN_COOKIE_AGE)
  return { redirect }
}

/** An address that is a page of this web app; undefined for any other text. */
export function validAddress(text: string): string | undefined {
  return text.length <= MAX_LENGTH && ADDRESS.test(text) && !NO_RETURN.test(text) ? text : undefined
}

/** The address of a page. */
export function addressOf(path: string, query: URLSearchParams): string {
  return path + (query.size === 0 ? '' : `?${query}`)
}

/** The fields of a form that its page keeps in its address. */
export function keptFields(form: URLSearchParams, names: readonly string[] = []): URLSearchParams {
  return new URLSearchParams(names.flatMap((name) => (form.has(name) ? [[name, form.get(name)!]] : [])))
}
