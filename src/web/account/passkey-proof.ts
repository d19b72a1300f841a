import { assertionOptions, relyingParty } from '../../auth/accounts/passkeys.ts'
import type { Page } from '../page-context.ts'
import { tooManyChallenges } from './passkeys.ts'

/** The challenge with which a person who is signed in proves their identity again. */
export const passkeyProofPage: Page = {
  path: '/settings/account/passkeys/prove',
  anonymous: false,
  async post({ web, session, origin }) {
    const party = relyingParty(origin)
    if (party === undefined) return { json: { error: 'There are no passkeys at an IP address.' }, status: 409 }
    const { user_id: userId, form_token: formToken } = session
    const result = await web.secondStep.challenge(userId, { purpose: 'prove', userId, formToken })
    if ('retryAfterMs' in result) return tooManyChallenges(result.retryAfterMs)
    return { json: await assertionOptions(party, result.challenge, result.passkeys) }
  },
}
