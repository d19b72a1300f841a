import type { StorageUnavailable } from '../port.ts'
import type { Entry } from './journal.ts'

/** What the writer of the journal has to do: write a change, or only wait or look. */
export interface QueueItem {
  /** absent from a flush and a probe, which write nothing */
  readonly entry?: Entry
  /** asks whether the disk has space */
  readonly probe?: boolean
  /** called synchronously in the order of the journal */
  readonly done: () => void
  readonly failed: (error: StorageUnavailable) => void
}

/** The changes of a batch. */
export function entriesOf(batch: readonly QueueItem[]): Entry[] {
  return batch.flatMap(({ entry }) => entry ?? [])
}

/** Reports the outcome of a batch to those who wait for it. */
export function settle(batch: readonly QueueItem[], error: StorageUnavailable | undefined): void {
  for (const item of batch) {
    if (error === undefined) item.done()
    else item.failed(error)
  }
}
