import { decorateStore } from '../../src/store/decorate.ts'
import type { Change } from '../../src/store/port.ts'
import type { Driver } from '../support/drivers.ts'

/** A driver, and the changes that are committed with it, in order, including those that conflict. */
export interface ObservedDriver {
  readonly driver: Driver
  readonly changes: Change[]
}

/** Wraps a driver so that tests see which records each commit writes and removes. */
export function observeCommits({ name, open }: Driver): ObservedDriver {
  const changes: Change[] = []
  return {
    changes,
    driver: {
      name,
      async open() {
        const opened = await open()
        const commit = (partition: string, change: Change) => (changes.push(change), opened.store.commit(partition, change))
        return { ...opened, store: decorateStore(opened.store, { commit }) }
      },
    },
  }
}

/** The keys of all records that a change writes or removes. */
export function writtenKeys({ put, remove }: Change): string[] {
  return [...put.keys(), ...remove].toSorted()
}
