import { andThen, type Awaitable } from '../../model/awaitable.ts'
import { blockersOf, isBlocking, isOpen, type Card } from '../../model/card.ts'
import { holdOf, type ClaimRecord } from '../../model/claim.ts'
import type { Readiness } from '../../model/readiness.ts'
import type { CommittingTransaction } from '../../store/derivation.ts'
import { indexes, lastWord } from '../../store/indexes.ts'
import { keys, type Key } from '../../store/keys.ts'

/** A card that a transaction writes or removes, or the claim of a card. */
interface Written<T> {
  /** of the card */
  readonly id: string
  /** undefined: it is new */
  readonly before: T | undefined
  /** undefined: the transaction removes it */
  readonly after: T | undefined
  /** whether the transaction has made its id, so that no other stored card can name it */
  readonly isNew: boolean
}
type WrittenCard = Written<Card>
type WrittenClaim = Written<ClaimRecord>

/** Derives the readiness of cards from the cards and the claims that a transaction writes. */
export function deriveReadiness(tx: CommittingTransaction, written: readonly string[]): Awaitable<void> {
  const [cards, claims]: [WrittenCard[], WrittenClaim[]] = [[], []]
  for (const key of written) {
    if (key.startsWith(CARD)) cards.push(writtenTo(tx, key, CARD))
    else if (key.startsWith(CLAIM)) claims.push(writtenTo(tx, key, CLAIM))
  }
  const affected = cards.filter(isAffected)
  const toggled = cards.filter(({ before, after, isNew }) => !isNew && isBlocking(before) !== isBlocking(after))
  const held = claims.filter(({ before, after }) => holdOf(before) !== holdOf(after) || notBefore(before) !== notBefore(after))
  if (affected.length + toggled.length + held.length === 0) return undefined
  return andThen(blockersAmong(tx, toggled), (blockers) => {
    if (affected.length + blockers.length + held.length === 0) return undefined
    return update(tx, affected, blockers, held)
  })
}

const CARD = keys.card('')
const CLAIM = keys.claim('')

function writtenTo<T>(tx: CommittingTransaction, key: Key<T>, prefix: Key<T>): Written<T> {
  return { id: key.slice(prefix.length), before: tx.before(key), after: tx.known(key), isNew: tx.isCreated(key) }
}

const notBefore = (record: ClaimRecord | undefined) => record?.not_before ?? null

/** Whether a write to the card itself can change its readiness. */
function isAffected({ before, after, isNew }: WrittenCard): boolean {
  const [old, blockers] = [blockersOf(before), blockersOf(after)]
  if (isNew && blockers.length === 0) return false
  if (before === undefined || after === undefined || isOpen(before) !== isOpen(after)) return true
  if (before.position !== after.position || before.column_id !== after.column_id) return true
  return old.length !== blockers.length || old.some((id, i) => id !== blockers[i])
}

/** Those cards that are blockers. The commit succeeds only if the others still are not. */
function blockersAmong(tx: CommittingTransaction, cards: readonly WrittenCard[]): Awaitable<readonly WrittenCard[]> {
  const isBlocker = ({ id }: WrittenCard) => tx.count(indexes.blockedCards(id), 0)
  const [first, ...others] = cards
  if (first === undefined) return []
  // One that is alone was counted together with the target of its request.
  if (others.length === 0) return andThen(isBlocker(first), (count) => (count > 0 ? [first] : []))
  return Promise.resolve(tx.prefetch({ counts: cards.map(({ id }) => indexes.blockedCards(id)) })).then(async () => {
    const found: WrittenCard[] = []
    for (const card of cards) if ((await isBlocker(card)) > 0) found.push(card)
    return found
  })
}

/**
 * @param toggled the blockers that begin or cease to block
 * @param held the claims that make a card begin or cease to wait
 */
async function update(
  tx: CommittingTransaction,
  affected: readonly WrittenCard[],
  toggled: readonly WrittenCard[],
  held: readonly WrittenClaim[],
): Promise<void> {
  const blocked: (readonly string[])[] = []
  for (const { id } of toggled) blocked.push((await tx.all(indexes.blockedCards(id), { entriesOnly: true })).entries.map(lastWord))
  const added = new Set(affected.flatMap(({ before, after }) => blockersOf(after).filter((id) => !blockersOf(before).includes(id))))
  const ids = new Set([...affected, ...held].map(({ id }) => id))
  const cards = new Set([...added, ...held.map(({ id }) => id)])
  await tx.read([...[...ids, ...blocked.flat()].map(keys.readiness), ...[...cards].map(keys.card)])
  const claims = new Map(held.map(({ id, after }) => [id, { held: holdOf(after), not_before: notBefore(after) }]))
  const unwritten = held.filter(({ id }) => !affected.some((one) => one.id === id))
  const same = unwritten.map(({ id }) => ({ id, before: tx.known(keys.card(id)), after: tx.known(keys.card(id)) }))
  for (const { id, before, after } of [...affected, ...same]) {
    const known = tx.known(keys.readiness(id))
    const [old, open] = [blockersOf(before), known?.open_blocker_ids ?? []]
    const blocks = (blocker: string) => (old.includes(blocker) ? open.includes(blocker) : isBlocking(tx.known(keys.card(blocker))))
    save(tx, id, after && readinessOf(after, blockersOf(after).filter(blocks), claims.get(id) ?? known))
  }
  for (const [i, { id: blocker, after }] of toggled.entries()) {
    for (const id of blocked[i]!) {
      const readiness = tx.known(keys.readiness(id))
      // A deleted card's readiness is removed with it.
      if (readiness === undefined) continue
      const others = readiness.open_blocker_ids.filter((other) => other !== blocker)
      save(tx, id, { ...readiness, open_blocker_ids: isBlocking(after) ? [...others, blocker] : others })
    }
  }
}

/** @returns undefined for a card without blockers whose work does not wait */
function readinessOf(
  card: Card,
  open_blocker_ids: readonly string[],
  { held, not_before }: Pick<Readiness, 'held' | 'not_before'> = { held: null, not_before: null },
): Readiness | undefined {
  const { id: card_id, board_id, column_id, position } = card
  const blocker_ids = blockersOf(card)
  if (blocker_ids.length === 0 && held === null && not_before === null) return undefined
  return { card_id, board_id, column_id, position, is_open: isOpen(card), blocker_ids, open_blocker_ids, held, not_before }
}

function save(tx: CommittingTransaction, id: string, readiness: Readiness | undefined): void {
  const key = keys.readiness(id)
  if (readiness !== undefined) tx.put(key, readiness)
  else if (tx.known(key) !== undefined) tx.remove(key)
}
