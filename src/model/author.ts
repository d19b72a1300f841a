/** Whoever cannot be named any more. */
export const FORMER_MEMBER = 'A former member'

/**
 * Who did something, in words: “Ana”, or “agent-03 of Ana” if a token of hers did it. The pages, the notices and the mails say it this way.
 * @param person their name; undefined: a former member
 * @param tokenName null: they did it themself
 */
export function authorName(person: string | undefined, tokenName: string | null): string {
  return tokenName === null ? (person ?? FORMER_MEMBER) : `${tokenName} of ${person ?? 'a former member'}`
}
