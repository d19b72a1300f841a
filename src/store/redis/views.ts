import { LRUCache } from 'lru-cache'
import { LastCommits, lastRevisionOf, type Changed } from './last-commits.ts'

/** Partitions that are remembered. */
const PARTITIONS = 10_000

/** What is known of a partition is true at its revision. If it is not known what has changed since, another object takes its place. */
export interface View {
  /** "": nothing was ever written */
  revision: string
}

/** What is known of each partition. */
export class Views {
  readonly #views = new LRUCache<string, View>({ max: PARTITIONS })
  readonly #commits = new LastCommits()
  readonly #forget: (base: string, changed: Changed) => void

  /** @param forget is called with what has changed in a partition since it was known */
  constructor(forget: (base: string, changed: Changed) => void) {
    this.#forget = forget
  }

  /** @returns undefined: nothing is known */
  get(base: string): View | undefined {
    return this.#views.get(base)
  }

  /**
   * Remembers the last commits of a partition.
   * @param text see `last-commits.ts`
   * @param after the revision that was known before the commits were read
   * @returns what is known now. It is ahead of the commits if the reply to a later read has come earlier.
   */
  note(base: string, text: string | null, after: string | undefined): View {
    const revision = lastRevisionOf(text)
    const view = this.#views.get(base)
    if (view?.revision === revision) return view
    this.#commits.read(text)
    if (view !== undefined && this.#advance(base, view, revision)) return view
    const isAfter = revision === after || (after !== undefined && this.changedBetween(after, revision) !== undefined)
    // Otherwise, a Redis that lost commits in a failover would never be believed.
    if (isAfter && view !== undefined && this.changedBetween(revision, view.revision) !== undefined) return view
    const next = { revision }
    this.#views.set(base, next)
    return next
  }

  /**
   * Remembers a commit of this process.
   * @param previous the revision of the commit before; undefined: that is not known
   * @returns what is known now, if that is true right after the commit
   */
  noteOwn(base: string, revision: string, changed: Changed, previous: string | undefined): View | undefined {
    if (previous !== undefined) this.#commits.note(revision, changed, previous)
    const view = this.#views.get(base)
    if (view !== undefined && this.#advance(base, view, revision)) return view
    this.#forget(base, changed)
    return undefined
  }

  /** See {@link LastCommits.changedBetween}. */
  changedBetween(revision: string, other: string): Changed | undefined {
    return this.#commits.changedBetween(revision, other)
  }

  #advance(base: string, view: View, revision: string): boolean {
    const changed = this.changedBetween(view.revision, revision)
    if (changed === undefined) return false
    this.#forget(base, changed)
    view.revision = revision
    return true
  }
}
