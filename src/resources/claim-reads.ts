import { keys } from '../store/keys.ts'
import { memberOf } from '../store/reads.ts'

/** What is read of the claim of a card. */
export function claimReads(cardId: string) {
  const claim = keys.claim(cardId)
  return [claim, keys.token(memberOf(claim, 'token_hash'))] as const
}
