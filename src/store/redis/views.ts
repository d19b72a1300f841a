import { LRUCache } from 'lru-cache'
import { LastCommits, lastRevisionOf, type Commit } from './last-commits.ts'

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
  readonly #follow: (base: string, commit: Commit, view: View) => void

  /** @param follow is called with each commit since what was known of a partition */
  constructor(follow: (base: string, commit: Commit, view: View) => void) {
    this.#follow = follow
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
    const isAfter = revision === after || (after !== undefined && this.between(after, revision) !== undefined)
    // Otherwise, a Redis that lost commits in a failover would never be believed.
    if (isAfter && view !== undefined && this.between(revision, view.revision) !== undefined) return view
    const next = { revision }
    this.#views.set(base, next)
    return next
  }

  /**
   * Remembers a commit of this process.
   * @param previous the revision of the commit before; undefined: that is not known
   * @returns what is known now if that is true right after the commit; 'ahead': it is true after a later one; undefined: neither
   */
  noteOwn(base: string, { revision, changed }: Commit, previous: string | undefined): View | 'ahead' | undefined {
    if (previous !== undefined) this.#commits.note(revision, changed, previous)
    const view = this.#views.get(base)
    if (view === undefined || view.revision === revision) return view
    // To look for a commit that is not there takes the longest.
    if (previous !== view.revision && this.between(revision, view.revision) !== undefined) return 'ahead'
    return this.#advance(base, view, revision) ? view : undefined
  }

  /** See {@link LastCommits.between}. */
  between(revision: string, other: string): Commit[] | undefined {
    return this.#commits.between(revision, other)
  }

  #advance(base: string, view: View, revision: string): boolean {
    const commits = this.between(view.revision, revision)
    if (commits === undefined) return false
    for (const commit of commits) {
      // What is absent after this commit may be appended by the next one.
      view.revision = commit.revision
      this.#follow(base, commit, view)
    }
    return true
  }
}
