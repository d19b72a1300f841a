import { LRUCache } from 'lru-cache'
import { changedSince, lastRevisionOf, type Changed } from './last-commits.ts'

/** Partitions that are remembered. */
const PARTITIONS = 10_000

/** What is known of a partition is true at its revision. If it is not known what has changed since, another object takes its place. */
export interface View {
  /** "": nothing was ever written */
  revision: string
  /** the last commits (see `last-commits.ts`) */
  commits: string | null
}

/** What is known of each partition. */
export class Views {
  readonly #views = new LRUCache<string, View>({ max: PARTITIONS })

  /** @returns undefined: nothing is known */
  get(base: string): View | undefined {
    return this.#views.get(base)
  }

  /**
   * Remembers the last commits of a partition.
   * @param text see `last-commits.ts`
   * @param after the revision that was known before the commits were read
   * @param forget is called with what has changed since that was known
   * @returns what is known now. It is ahead of the commits if the reply to a later read has come earlier.
   */
  note(base: string, text: string | null, after: string | undefined, forget: (changed: Changed) => void): View {
    const revision = lastRevisionOf(text)
    const view = this.#views.get(base)
    if (view?.revision === revision) return view
    const changed = view && changedSince(text, view.revision)
    if (changed !== undefined) {
      forget(changed)
      return Object.assign(view!, { revision, commits: text })
    }
    const isAfter = revision === after || (after !== undefined && changedSince(text, after) !== undefined)
    // Otherwise, a Redis that lost commits in a failover would never be believed.
    if (isAfter && view !== undefined && changedSince(view.commits, revision) !== undefined) return view
    const next = { revision, commits: text }
    this.#views.set(base, next)
    return next
  }
}
