import { durations, isCurrent } from '../../model/durations.ts'
import type { Challenge } from '../../model/second-factor.ts'
import { timestamp, type Clock } from '../../model/time.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { Deps } from '../../store/transact.ts'
import type { Transaction } from '../../store/transaction.ts'
import { equalInConstantTime, newSecret, sha256Hex } from '../secrets.ts'

/** Expired challenges that are removed when a new one is created: more than one, so that none remain for long. */
const REMOVED_AT_ONCE = 20

/**
 * Creates a challenge that can be answered once, within five minutes, and removes some that have expired.
 * @param members without `bound_to`: the form token of the page
 * @returns the challenge, 43 characters in base64url; only its hash is stored
 */
export async function createChallenge(
  tx: Transaction,
  { formToken, ...members }: Pick<Challenge, 'purpose' | 'user_id' | 'credential' | 'return_to'> & { readonly formToken: string },
  { clock, random }: Deps,
): Promise<string> {
  const { values } = await tx.range(indexes.challenges(), { before: `${timestamp(clock)}~`, limit: REMOVED_AT_ONCE, weak: true })
  const expired = values.filter((challenge) => challenge !== undefined)
  await tx.confirm(expired.map(({ hash }) => keys.challenge(hash)))
  for (const { hash } of expired) tx.remove(keys.challenge(hash))
  const secret = newSecret(random)
  const hash = sha256Hex(secret)
  const expires_at = timestamp(() => clock() + durations.challenge)
  tx.create(keys.challenge(hash), { ...members, hash, bound_to: sha256Hex(formToken), expires_at })
  return secret
}

/** A challenge that is answered: itself, what for, and the form token of the page. */
interface AnsweredChallenge {
  readonly secret: string
  readonly purpose: Challenge['purpose']
  readonly formToken: string
}

/** Finds a challenge that can still be answered, by the browser that got it. */
export async function findChallenge(
  tx: Transaction,
  { secret, purpose, formToken }: AnsweredChallenge,
  clock: Clock,
): Promise<Challenge | undefined> {
  const challenge = await tx.get(keys.challenge(sha256Hex(secret)))
  if (challenge?.purpose !== purpose || !equalInConstantTime(challenge.bound_to, sha256Hex(formToken))) return undefined
  return isCurrent(challenge.expires_at, durations.challenge, clock()) ? challenge : undefined
}

/** Finds a challenge and removes it, so that it is answered only once, even if the answer is wrong. */
export async function takeChallenge(tx: Transaction, answered: AnsweredChallenge, clock: Clock): Promise<Challenge | undefined> {
  const challenge = await findChallenge(tx, answered, clock)
  if (challenge !== undefined) tx.remove(keys.challenge(challenge.hash))
  return challenge
}
