import type { OmittedFile } from './export-format.ts'

/** How many lost files a summary names. */
const NAMED = 1000

/** A file whose bytes are lost. */
export interface LostFile {
  readonly workspace_id: string
  readonly file_id: string
  readonly name: string
  readonly size: number
  /** `unreadable`: the bytes are missing or cannot be read; `damaged`: they are not those that were uploaded */
  readonly reason: 'unreadable' | 'damaged'
}

/** What an export, an import, a backup or a restore has transferred. */
export interface Transferred {
  readonly records: number
  readonly files: number
  /** bytes of all files */
  readonly bytes: number
  /** the number of files that are left out because their bytes are lost */
  readonly lost: number
  /** the first 1000 of them */
  readonly lost_files: readonly LostFile[]
}

/** What an export or import has transferred. */
export interface TransferSummary extends Transferred {
  readonly workspace_id: string
}

/** Counts what is transferred. */
export class TransferCounter implements Transferred {
  records = 0
  files = 0
  bytes = 0
  lost = 0
  readonly lost_files: LostFile[] = []

  /** Counts a file whose bytes are not transferred. A file that was removed meanwhile is not lost. */
  omit(workspaceId: string, { omitted, name, size, reason }: OmittedFile): void {
    if (reason === 'removed') return
    this.lost++
    if (this.lost <= NAMED) this.lost_files.push({ workspace_id: workspaceId, file_id: omitted, name, size, reason })
  }

  /** The progress, as the operator reads it. */
  get progress(): string {
    return `${this.records} records, ${this.files} files (${(this.bytes / 1024 / 1024).toFixed(1)} MiB)`
  }
}
