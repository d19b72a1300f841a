import { notFound } from '../model/errors.ts'
import { isId, type IdKind } from '../model/ids.ts'
import type { Placement } from './placement.ts'
import type { Key } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import type { Place, Positioned } from './ranks.ts'

/** The thing that a body's `before` or `after` names, if it names one. */
export interface Anchor<T> {
  readonly thing: T
  readonly side: 'before' | 'after'
}

/**
 * Reads the thing next to which something is to go.
 * @param belongs whether it is one of the same board (or card): what is not is not there
 * @throws {Failure} `not_found`
 */
export async function loadAnchor<T>(
  tx: Transaction,
  { before, after }: Placement,
  kind: IdKind,
  keyOf: (id: string) => Key<T>,
  belongs: (thing: T) => boolean,
): Promise<Anchor<T> | undefined> {
  const id = before ?? after
  if (id === undefined) return undefined
  const thing = isId(kind, id) ? await tx.get(keyOf(id)) : undefined
  if (thing === undefined || !belongs(thing)) throw notFound()
  return { thing, side: before === undefined ? 'after' : 'before' }
}

/** The place that a body names; last where it names none. */
export function placeOf<T extends Positioned>(anchor: Anchor<T> | undefined, to: 'first' | 'last' | undefined): Place<T> {
  if (anchor === undefined) return { to: to ?? 'last' }
  return anchor.side === 'before' ? { before: anchor.thing } : { after: anchor.thing }
}

/** Refuses to put something next to itself. */
export function notNextToItself(param: string) {
  return (params: Readonly<Record<string, string>>, { before, after }: Placement) => {
    const id = params[param]
    if (before !== id && after !== id) return undefined
    return { path: before === id ? 'before' : 'after', message: 'names the very thing that is moved' }
  }
}
