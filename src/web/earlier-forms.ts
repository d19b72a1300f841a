import { isFormTokenOf } from '../auth/accounts/form-token.ts'
import { errorPage } from './error-pages.ts'
import type { Page, PageResponse, SignedInContext } from './page-context.ts'
import { addressOf, keptFields } from './return-path.ts'

/** What a person is told whose form was made in a session that has ended. */
export const SEND_AGAIN =
  'Your session had ended, and you have signed in again since. Nothing was done yet, and nothing is lost: send it once more.'
const SIGNED_IN_AGAIN = 'Your session had ended, and you have signed in again since. Open the page again, and send the form once more.'
const NOT_YOURS =
  'Nothing was sent: somebody else has signed in here since this page was opened, or the page is too old. Copy what you have written, and open the page again.'

/**
 * Answers a form of one of our own pages whose session has ended while its person has signed in again. Nothing is done: its page is
 * shown once more with what was written, and a script gets the form token of the present session.
 * @returns undefined if it is another form: its token decides
 */
export async function answerEarlierForm(
  page: Page & { readonly anonymous?: false },
  context: SignedInContext,
): Promise<PageResponse | undefined> {
  const { request, form, origin, session, path } = context
  const token = form.get('form_token') ?? ''
  const { headers } = request
  // Browsers name the origin of each form that is sent: one that names none may come from anywhere.
  const isOurs = headers.get('origin') === origin && (headers.get('sec-fetch-site') ?? 'same-origin') === 'same-origin'
  if (!isOurs || token === session.form_token) return undefined
  const isOwn = isFormTokenOf(token, session.user_id)
  if (headers.get('accept') === 'application/json')
    return { json: isOwn ? { error: SEND_AGAIN, form_token: session.form_token } : { error: NOT_YOURS }, status: 403, audit: false }
  if (!isOwn) return undefined
  if (page.showAgain !== undefined) return page.showAgain(context)
  if (page.keeps !== undefined && page.get !== undefined) return { redirect: addressOf(path, keptFields(form, page.keeps)), audit: false }
  // Such a form has no text: a button, or a proof such as a password, which is not sent to the page again.
  return {
    ...errorPage(403, 'Nothing was done yet', SIGNED_IN_AGAIN, {}, page.get === undefined ? undefined : path),
    audit: false,
  }
}
