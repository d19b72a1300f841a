import { assertionOptions, registrationOptions, relyingParty, type RelyingParty } from '../../auth/accounts/passkeys.ts'
import { networkOf } from '../../http/client-address.ts'
import type { Challenge, Passkey } from '../../model/second-factor.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { tooManyAttempts } from '../error-pages.ts'
import type { Page, PageContext, PageResponse } from '../page-context.ts'
import { challengePaths } from './proof-fields.ts'
import { isProved } from './re-authentication.ts'

/** The challenge for a browser that asks any passkey for this service. */
export const signInChallengePage: Page = {
  path: challengePaths.sign_in,
  anonymous: true,
  post: (context) => respond(context, 'sign_in', null, (party, challenge) => assertionOptions(party, challenge)),
}

/** The challenge for a signed-in person who proves their identity again. */
export const passkeyProofPage: Page = {
  path: challengePaths.prove,
  endsAccess: true,
  post: (context) => respond(context, 'prove', context.session.user_id, assertionOptions),
}

/** The challenge for a browser that creates a passkey. */
export const passkeyChallengePage: Page = {
  path: challengePaths.register,
  post(context) {
    const { web, session } = context
    const { user_id: userId, email } = session
    if (!isProved(context)) return { json: { error: 'Your password is needed again. Open the page again.' }, status: 403 }
    return respond(context, 'register', userId, async (party, challenge, passkeys) => {
      const user = await transact(web.store, GLOBAL, web.random, (tx) => tx.get(keys.user(userId)))
      return registrationOptions(party, challenge, { userId, email, name: user?.display_name ?? email, passkeys })
    })
  },
}

/**
 * Answers the script that asks for a challenge.
 * @param userId null: nobody is signed in, and the network is limited
 */
async function respond(
  { web, form, origin, address }: PageContext,
  purpose: Challenge['purpose'],
  userId: string | null,
  optionsOf: (party: RelyingParty, challenge: string, passkeys: readonly Passkey[]) => Promise<object>,
): Promise<PageResponse> {
  const party = relyingParty(origin)
  if (party === undefined) return { json: { error: 'There are no passkeys at an IP address.' }, status: 409 }
  const result = await web.secondStep.challenge(userId ?? networkOf(address), { purpose, userId, formToken: form.get('form_token')! })
  if ('challenge' in result) return { json: await optionsOf(party, result.challenge, result.passkeys) }
  const { status, error, headers } = tooManyAttempts(result.retryAfterMs)
  return { json: { error }, status, headers }
}
