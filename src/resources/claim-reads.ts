import { keys } from '../store/keys.ts'

/**
 * What is read of the claim of a card.
 * @param at the index of the first of these references in the read
 */
export function claimReads(cardId: string, at: number) {
  return [keys.claim(cardId), keys.token(`{${at}.token_hash}`)] as const
}
