import { LRUCache } from 'lru-cache'
import type { ParsedToken } from '../auth/tokens/format.ts'
import { scopeFacts } from '../authz/facts.ts'
import { ApiError } from '../model/errors.ts'
import type { TokenRecord } from '../model/token.ts'
import type { Engine } from '../policy/engine.ts'
import { readsOf } from '../resources/targets.ts'
import type { PrefetchRequest, Read } from '../store/reads.ts'
import { credentialKeys, type CredentialRecords } from './authenticate.ts'
import type { Route } from './routes.ts'

/** How many tokens one process remembers: about 200 bytes each. */
const REMEMBERED = 50_000

/**
 * The scopes of tokens that this process has seen, by hash. The scopes of a token never change (spec §5), so they can be
 * remembered. They only decide what is read together. Each request reads its token again, and decides on that.
 */
export class SeenTokens {
  // With `max`, the memory of all entries would be allocated now, which takes longer than the rest of a start.
  readonly #scopes = new LRUCache<string, Pick<TokenRecord, 'scopes'>>({ maxSize: REMEMBERED, sizeCalculation: () => 1 })

  add(hash: string, { scopes }: TokenRecord): void {
    if (!this.#scopes.has(hash)) this.#scopes.set(hash, { scopes })
  }

  /** What is known of a token; undefined if this process has not seen it. */
  get(hash: string): Pick<TokenRecord, 'scopes'> | undefined {
    return this.#scopes.get(hash)
  }
}

/** The index of the target's first reference: the token and the membership come before it. */
const TARGET = 2

/** What was read ahead, for {@link authenticate} and for the target. */
export interface ReadAhead {
  readonly credentials: CredentialRecords
  readonly target: readonly unknown[]
}

/** What is read ahead in one snapshot. */
interface AheadRequest extends PrefetchRequest {
  readonly records: readonly Read[]
  /** the number of references of the target */
  readonly targets: number
}

/**
 * What is read in one snapshot: the token, the membership of its user and the target of the path, if the token's scopes are known
 * to be sufficient. Otherwise nothing is read ahead: a request with an insufficient scope must read only its token and the
 * membership.
 * @param further records to read with them
 * @returns undefined if nothing is read ahead
 */
export function readsAhead(
  engine: Engine,
  { operation, params }: Route,
  { hash }: ParsedToken,
  seen: Pick<SeenTokens, 'get'>,
  further: readonly Read[] = [],
): AheadRequest | undefined {
  const token = seen.get(hash)
  if (token === undefined || operation.kind !== 'single') return undefined
  if (!engine.checkScope(operation.permission, scopeFacts(engine.vocabulary, token)).allowed) return undefined
  const target = readsOf(operation.target, params, TARGET, { userId: '{0.user_id}', tokenHash: hash })
  if (target instanceof ApiError) return undefined
  return { records: [...credentialKeys(hash), ...target, ...further], counts: operation.counts?.(params), targets: target.length }
}

/** The values of the records that were read ahead. */
export function toReadAhead({ targets }: AheadRequest, values: readonly unknown[]): ReadAhead {
  return { credentials: values.slice(0, TARGET) as unknown as CredentialRecords, target: values.slice(TARGET, TARGET + targets) }
}
