import type { Change, Stored } from './port.ts'

type StagedChange = Pick<Change, 'revision' | 'put' | 'remove' | 'indexes'>

/** The accepted changes of one partition that are not on the disk yet. Later commits are checked against them; reads do not see them. */
export class PendingChanges {
  readonly #changes = new Set<StagedChange>()
  /** key → the last change that writes or removes it; `stored` is null for a removal */
  readonly #records = new Map<string, { revision: string; stored: Stored | null }>()
  readonly #indexes = new Map<string, { revision: string; gain: number; lastAdded: string | undefined }>()

  get empty(): boolean {
    return this.#changes.size === 0
  }

  /** The pending state of a record: null when it will be removed, undefined when nothing is pending. */
  record(key: string): Stored | null | undefined {
    return this.#records.get(key)?.stored
  }

  /** The pending revision of an index. */
  index(name: string): string | undefined {
    return this.#indexes.get(name)?.revision
  }

  /** How many entries an index may gain. */
  gain(name: string): number {
    return this.#indexes.get(name)?.gain ?? 0
  }

  /** The last entry that a pending change adds to an index. */
  lastAdded(name: string): string | undefined {
    return this.#indexes.get(name)?.lastAdded
  }

  stage(change: StagedChange): void {
    const { revision, put, remove, indexes } = change
    this.#changes.add(change)
    for (const [key, value] of put) this.#records.set(key, { revision, stored: { value, revision } })
    for (const key of remove) this.#records.set(key, { revision, stored: null })
    for (const [name, { add }] of indexes) {
      const lastAdded = add.at(-1) ?? this.lastAdded(name)
      this.#indexes.set(name, { revision, gain: this.gain(name) + add.length, lastAdded })
    }
  }

  /** Drops a change that was applied or has failed. */
  settle(change: StagedChange): void {
    const { revision, put, remove, indexes } = change
    this.#changes.delete(change)
    // A later change of the same record is still pending.
    for (const key of [...put.keys(), ...remove]) if (this.#records.get(key)?.revision === revision) this.#records.delete(key)
    for (const [name, { add }] of indexes) {
      const pending = this.#indexes.get(name)!
      if (pending.revision === revision) this.#indexes.delete(name)
      else pending.gain -= add.length
    }
  }
}
