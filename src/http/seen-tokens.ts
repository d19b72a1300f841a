import { LRUCache } from 'lru-cache'
import type { TokenRecord } from '../model/token.ts'

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
