import { LRUCache } from 'lru-cache'
import type { Change } from '../port.ts'

/** How long the line of a commit may be, in characters. A commit that has changed more does not say what. */
const LINE_LENGTH = 500
/** How long the text of a partition's last commits may be, in characters, and how much of it is kept when it is cut. */
export const [COMMITS_LENGTH, KEPT_LENGTH] = [1500, 750]
/** Commits of all partitions that are remembered. */
const COMMITS = 2000
/** How far a commit is looked for behind another one. */
const REACH = 100

/** The names of what commits have changed. */
export interface Changed {
  readonly records: readonly string[]
  readonly indexes: readonly string[]
}

/** The revisions of a partition at a commit. */
export interface CommitRevisions {
  readonly revision: string
  /** before it; undefined: that is not known */
  readonly previous: string | undefined
}

/** A commit that says what it has changed. */
export interface Commit {
  readonly revision: string
  readonly changed: Changed
}

/** What is known of a commit. */
interface KnownCommit {
  /** undefined: the commit does not say it */
  readonly changed: Changed | undefined
  /** the revision of the commit before */
  readonly previous: string
}

/** A commit as a line: JSON of what it has changed, a space, and its revision. Lines are added to the text of the last commits. */
export function lineOf(change: Change): string {
  const changed = JSON.stringify(changedBy(change))
  return `\n${changed.length > LINE_LENGTH ? '' : changed} ${change.revision}`
}

/** What a commit changes, without the records that it appends. */
export function changedBy({ put, remove, indexes, append }: Change): Changed {
  return { records: [...put.keys(), ...remove], indexes: [...indexes.keys(), ...(append?.keys() ?? [])] }
}

/** The revision of the last commit. @param text the last commits; null: there was no commit, and the revision is "" */
export function lastRevisionOf(text: string | null): string {
  return text === null ? '' : text.slice(Math.max(text.lastIndexOf(' '), text.lastIndexOf('\n')) + 1)
}

/** The last commits of all partitions that this process knows. A revision is never used again, in any partition. */
export class LastCommits {
  readonly #commits = new LRUCache<string, KnownCommit>({ max: COMMITS })

  /** Remembers a commit of this process. @param previous the revision of the commit before */
  note(revision: string, changed: Changed | undefined, previous: string): void {
    this.#commits.set(revision, { changed, previous })
  }

  /** Remembers the last commits of a partition. @param text see `scripts.ts`. Its first line may be cut: it has a revision alone. */
  read(text: string | null): void {
    const lines = text?.split('\n') ?? []
    for (let i = lines.length - 1; i > 0; i--) {
      const revision = lastRevisionOf(lines[i]!)
      if (this.#commits.has(revision)) continue
      const changed = lines[i]!.slice(0, -revision.length - 1)
      // A long commit does not say what it has changed, and one of an earlier version says it after its revision.
      const known = changed.startsWith('{') ? (JSON.parse(changed) as Changed) : undefined
      this.note(revision, known, lastRevisionOf(lines[i - 1]!))
    }
  }

  /**
   * The commits between two revisions of a partition, the first one first.
   * @returns undefined: they are not known, or the other revision is not after this one, or they are many
   */
  between(revision: string, other: string): Commit[] | undefined {
    const commits: Commit[] = []
    // A text that is cut at the end of a line does not tell whether there were commits before.
    for (let at = other; at !== revision || at === '';) {
      const commit = this.#commits.peek(at)
      if (commit?.changed === undefined || commits.length === REACH) return undefined
      commits.unshift({ revision: at, changed: commit.changed })
      at = commit.previous
    }
    return commits
  }
}
