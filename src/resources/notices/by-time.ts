import type { Card } from '../../model/card.ts'
import { durations } from '../../model/durations.ts'
import type { ToldByTime } from '../../model/notice.ts'
import { DAY, timestamp } from '../../model/time.ts'
import type { TokenRecord } from '../../model/token.ts'
import type { Notifying } from '../../store/derivation.ts'
import { indexes, lastWord, type Index } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { countAttempt } from '../claims/changes.ts'
import { readClaim } from '../claims/present.ts'
import type { OperationRequest } from '../operation.ts'
import { dueCause, NOBODY, type Cause } from './causes.ts'

/** How many cards, tokens and claims one commit tells of. */
const BATCH = 50
/** How long before the end of a token its person is told, in milliseconds. */
const [EARLY, LATE] = [durations.tokenEndsSoon, 3 * DAY] as const
const NOTHING_TOLD: ToldByTime = { due: null, tokens_early: null, tokens_late: null }

/**
 * Tells of what time has caused in a workspace: cards that are due within a day, tokens that end soon, cards whose last attempt has run
 * out. What was told is noted in the same commit. So each is told once, by however many processes, and also if clocks step back.
 * @returns whether it may have left something
 */
export async function tellByTime(tx: Transaction, clock: OperationRequest['clock'], notifying: Notifying): Promise<boolean> {
  const now = clock()
  const told = (await tx.get(keys.toldByTime())) ?? NOTHING_TOLD
  const due = await nextOf(tx, indexes.dueCards(), told.due, now, DAY)
  const early = await nextOf(tx, indexes.endingTokens(), told.tokens_early, now, EARLY)
  const late = await nextOf(tx, indexes.endingTokens(), told.tokens_late, now, LATE)
  const causes = [
    ...due.values.map(dueCause),
    // One that ends within three days is told once.
    ...early.values.flatMap((token) => endOf(token, EARLY, now + LATE)),
    ...late.values.flatMap((token) => endOf(token, LATE, now)),
  ]
  notifying.byTime = causes
  const next = { due: due.last, tokens_early: early.last, tokens_late: late.last }
  if (due.count + early.count + late.count > 0) tx.put(keys.toldByTime(), next)
  const counted = await countLastAttempts(tx, clock)
  return [due.count, early.count, late.count, counted].some((count) => count >= BATCH)
}

/** What is next in an index by time, within a time from now. What is over when the first is told is no news. */
async function nextOf<T extends Card | TokenRecord>(tx: Transaction, index: Index<T>, last: string | null, now: number, within: number) {
  const [after, before] = [last ?? `${timestamp(() => now)} ~`, `${timestamp(() => now + within)} ~`]
  if (after >= before) return { values: [], count: 0, last }
  // The commit relies on it: what comes between what is told, at the same time, is told by one of both.
  const { entries, values } = await tx.range(index, { after, before, limit: BATCH })
  return { values: values.filter((value) => value !== undefined), count: entries.length, last: entries.at(-1) ?? last }
}

/** A token ends soon, unless it was issued for so short a time, or ends before a time. */
function endOf({ user_id, name, issued_at, expires_at }: TokenRecord, within: number, before: number): Cause[] {
  const end = Date.parse(expires_at)
  if (end - Date.parse(issued_at) <= within || end <= before) return []
  const wanted = [{ kind: 'token_ending', to: [user_id] }] as const
  return [{ board_id: null, card_id: null, comment_id: null, by: { ...NOBODY, token_name: name }, wanted, more: { until: expires_at } }]
}

/**
 * Counts the attempts whose claims have run out and that were the last ones: the notices follow from that. Those on deleted boards stay until
 * garbage collection removes them, and are passed over.
 * @returns how many it has counted
 */
async function countLastAttempts(tx: Transaction, clock: OperationRequest['clock']): Promise<number> {
  const options = { before: `${timestamp(clock)} ~`, limit: BATCH, weak: true, entriesOnly: true } as const
  let counted = 0
  for (let after: string | undefined; ;) {
    const { entries } = await tx.range(indexes.lastAttempts(), { ...options, after })
    for (const id of entries.map(lastWord)) {
      const card = await tx.get(keys.card(id))
      if (card === undefined || (await tx.get(keys.board(card.board_id))) === undefined) continue
      const { live } = await readClaim({ tx, clock }, id)
      if (live !== undefined) continue
      await countAttempt({ tx, clock } as OperationRequest, id)
      counted++
    }
    if (entries.length < BATCH || counted >= BATCH) return counted
    after = entries.at(-1)!
  }
}
