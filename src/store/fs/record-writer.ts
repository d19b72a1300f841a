import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { databaseIn, idOf, sizeOf, writeGeneration } from './folder.ts'
import { PAGE_SIZE } from './log-damage.ts'
import { checksumOf, readPartitions, toldAs, type PartitionRow } from './rows.ts'
import { BUSY, FULL, openDatabase, resultOf, TIMEOUT, type DatabaseSync, type StatementSync } from './sqlite.ts'

/** One change of the rows of a partition. Values are JSON. */
export interface RowChange {
  readonly partition: string
  readonly revision: string
  readonly insert: readonly (readonly [number: number, key: string, value: string])[]
  readonly update: readonly (readonly [number: number, key: string, value: string])[]
  readonly remove: readonly number[]
}

/**
 * What came of a batch: all of it was written, or nothing because the disk is full or another program writes, or it is unknown and the
 * writer must be given up.
 */
export type WriteResult =
  | { readonly written: true }
  | { readonly full: string }
  | { readonly busy: string }
  | { readonly failed: string; /** by another program, which has changed or replaced the records */ readonly isForeign?: boolean }

/** What a writer has done since its start. */
export interface WriterCounts {
  transactions: number
  rows: number
  checkpoints: number
  checkpointFailures: number
  /** of the last one */
  checkpointSeconds: number
}

export interface WriterOptions {
  /** the size of the log that leads to a checkpoint, in bytes */
  readonly checkpointAt: number
  /** the space that is kept for changes that only revoke or remove, in bytes */
  readonly reserveSize: number
  /** settings of SQLite in place of {@link SETTINGS}, for tests only */
  readonly settings?: string
}

/** The mode of the journal is stored in the file and stays, unless another program has changed it. */
const SETTINGS =
  'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA wal_autocheckpoint = 0'
/** SQLITE_IOERR_SHMSIZE: there is no space for the index of the log. */
const NO_SPACE_FOR_INDEX = 4874
/** How long a checkpoint waits for those who read, in milliseconds. */
const CHECKPOINT_TIMEOUT = 50
const CHANGED = 'another program has changed or replaced records.db; nothing is written until a restart'

/**
 * Writes records to the database of a folder, synchronously: it runs in a thread (see `writer-thread.ts`). What it gets at once is one
 * transaction, which is synced. It makes the checkpoints itself, so that it knows where a log begins (see {@link writeGeneration}).
 */
export class RecordWriter {
  readonly #path: string
  readonly #file: string
  readonly #options: WriterOptions
  readonly #database: DatabaseSync
  readonly #statements: Readonly<Record<'insert' | 'update' | 'remove' | 'partition' | 'newPartition', StatementSync>>
  readonly #partitions: Map<string, PartitionRow>
  /** tells whether the file was replaced */
  readonly #id: string
  /** the size of the log that makes a checkpoint due */
  #due: number
  /** whether the disk had no space for the last changes */
  #isFull = false
  readonly counts: WriterCounts = { transactions: 0, rows: 0, checkpoints: 0, checkpointFailures: 0, checkpointSeconds: 0 }

  /**
   * Opens the database of a folder whose lock the caller holds, and takes over its log.
   * @throws {StorageDamaged}
   */
  constructor(path: string, options: WriterOptions) {
    this.#path = path
    this.#file = databaseIn(path)
    this.#options = options
    this.#due = options.checkpointAt
    this.#database = openDatabase(this.#file)
    try {
      toldAs(`${this.#file} is damaged`, () => this.#database.exec(options.settings ?? SETTINGS))
      const { journal_mode: mode } = this.#database.prepare('PRAGMA journal_mode').get() as { journal_mode: string }
      if (mode !== 'wal') throw new Error(`${this.#file} must have a log, and another program has it open`)
      this.#partitions = new Map(readPartitions(this.#database, path).map((row) => [row.name, row]))
      this.#statements = prepare(this.#database)
      this.#id = idOf(this.#file)
      this.#keepReserve()
      this.#checkpoint()
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  /** The partitions that exist. */
  get names(): string[] {
    return [...this.#partitions.keys()]
  }

  /**
   * Writes changes in their order.
   * @param onlyRemoves whether they may use the reserve. All others wait until it has its size again: they would use up what it has given
   * up.
   */
  write(changes: readonly RowChange[], onlyRemoves: boolean): WriteResult {
    let result: WriteResult = onlyRemoves || this.#keepReserve() ? this.#attempt(changes) : { full: 'the disk is full' }
    if ('full' in result && onlyRemoves && sizeOf(`${this.#path}/reserve`) > 0) {
      rmSync(`${this.#path}/reserve`)
      result = this.#attempt(changes)
    }
    this.#isFull = 'full' in result
    return result
  }

  /**
   * Makes a checkpoint if the log is long.
   * @throws when the writer must be given up
   */
  checkpointIfDue(): void {
    if (sizeOf(`${this.#file}-wal`) >= this.#due) this.#checkpoint()
  }

  /** Whether changes would be written now: there is space, and the reserve has its size. */
  hasSpace(): boolean {
    this.#isFull &&= Math.max(this.#freeBytes(), this.#freePages() * PAGE_SIZE) < this.#options.reserveSize
    return this.#keepReserve() && !this.#isFull
  }

  /** Ends with a checkpoint and removes the log, unless another program uses the file. */
  close(): void {
    this.#database.close()
  }

  #attempt(changes: readonly RowChange[]): WriteResult {
    try {
      this.#database.exec('BEGIN IMMEDIATE')
      const partitions = new Map<string, PartitionRow>()
      let added = 0
      for (const change of changes) {
        const { partition } = change
        const row = partitions.get(partition) ?? this.#partitions.get(partition) ?? this.#add(partition, ++added)
        partitions.set(partition, this.#write(row, change))
      }
      for (const [name, row] of partitions) this.#writePartition(row, this.#partitions.get(name)?.revision ?? '')
      if (idOf(this.#file) !== this.#id) throw new Error(CHANGED)
      this.#database.exec('COMMIT')
      // What was written is in a file that nobody will find.
      if (sizeOf(`${this.#file}-wal`) === 0) throw new Error(CHANGED)
      for (const [name, row] of partitions) this.#partitions.set(name, row)
      this.counts.transactions++
      for (const { insert, update, remove } of changes) this.counts.rows += insert.length + update.length + remove.length
      return { written: true }
    } catch (error) {
      const { message } = error as Error
      try {
        this.#database.exec('ROLLBACK')
      } catch {
        // SQLite has ended it, or it has not begun.
      }
      if (isFull(error)) return { full: message }
      return resultOf(error) === BUSY ? { busy: message } : { failed: message, isForeign: message === CHANGED }
    }
  }

  #write({ id, name, rows }: PartitionRow, { revision, insert, update, remove }: RowChange): PartitionRow {
    const statements = this.#statements
    for (const number of remove) requireOne(statements.remove.run(id, number))
    for (const [number, key, value] of insert) statements.insert.run(id, number, key, revision, value, checksumOf(key, revision, value))
    for (const [number, key, value] of update)
      requireOne(statements.update.run(revision, value, checksumOf(key, revision, value), id, number))
    return { id, name, rows: rows + insert.length - remove.length, revision }
  }

  /** @param added how many the transaction has added, with this one */
  #add(name: string, added: number): PartitionRow {
    const row = { id: this.#partitions.size + added, name, rows: 0, revision: '' }
    this.#statements.newPartition.run(row.id, name, checksumOf(name, 0, ''))
    this.#database.exec('UPDATE folder SET partitions = partitions + 1')
    return row
  }

  /** The last revision is the one this process wrote, unless another one has written too. */
  #writePartition({ id, name, rows, revision }: PartitionRow, last: string): void {
    requireOne(this.#statements.partition.run(rows, revision, checksumOf(name, rows, revision), id, last))
  }

  /**
   * Writes the log to the file. If another program reads, or the disk is full, the log grows on.
   * @throws when the writer must be given up
   */
  #checkpoint(): void {
    const begin = performance.now()
    const database = this.#database
    try {
      // A moment for a load. Another program may read for long.
      database.exec(`PRAGMA busy_timeout = ${CHECKPOINT_TIMEOUT}`)
      const { busy } = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number }
      if (busy === 0) this.counts.checkpoints++
      else this.counts.checkpointFailures++
      this.#due = (busy === 0 ? 0 : sizeOf(`${this.#file}-wal`)) + this.#options.checkpointAt
      // Also if the log goes on: the file may have all of it by now, and what follows is in the log alone.
      const { generation } = database.prepare('UPDATE folder SET generation = generation + 1 RETURNING generation').get() as {
        generation: number
      }
      writeGeneration(this.#path, generation)
    } catch (error) {
      this.counts.checkpointFailures++
      this.#due = sizeOf(`${this.#file}-wal`) + this.#options.checkpointAt
      if (!isFull(error) && resultOf(error) !== BUSY) throw error
    } finally {
      database.exec(`PRAGMA busy_timeout = ${TIMEOUT}`)
    }
    this.counts.checkpointSeconds = (performance.now() - begin) / 1000
  }

  /**
   * Fills up the reserve, if there is space for it twice.
   * @returns whether it has its size, or the file has room for records
   */
  #keepReserve(): boolean {
    const { reserveSize } = this.#options
    const file = `${this.#path}/reserve`
    if (sizeOf(file) === reserveSize) return true
    if (this.#freeBytes() < 2 * reserveSize) return this.#freePages() * PAGE_SIZE >= 2 * reserveSize
    try {
      rmSync(file, { force: true })
      // Not zeros: some file systems keep no space for these.
      writeFileSync(file, Buffer.alloc(reserveSize, 'reserve '), { flag: 'wx', mode: 0o600, flush: true })
      return true
    } catch {
      return false
    }
  }

  /** How many pages of the file are not used. */
  #freePages(): number {
    return (this.#database.prepare('PRAGMA freelist_count').get() as { freelist_count: number }).freelist_count
  }

  #freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.#path)
    return bavail * bsize
  }
}

function prepare(database: DatabaseSync) {
  return {
    insert: database.prepare('INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)'),
    update: database.prepare('UPDATE records SET revision = ?, value = ?, checksum = ? WHERE partition = ? AND number = ?'),
    remove: database.prepare('DELETE FROM records WHERE partition = ? AND number = ?'),
    partition: database.prepare('UPDATE partitions SET rows = ?, revision = ?, checksum = ? WHERE id = ? AND revision = ?'),
    newPartition: database.prepare("INSERT INTO partitions VALUES (?, ?, 0, '', ?)"),
  }
}

/** What this process knows is in the file, unless another program has changed it. */
function requireOne({ changes }: { readonly changes: number | bigint }): void {
  if (changes !== 1) throw new Error(CHANGED)
}

function isFull(error: unknown): boolean {
  return (
    (error as NodeJS.ErrnoException).code === 'ENOSPC' ||
    resultOf(error) === FULL ||
    (error as { readonly errcode?: number }).errcode === NO_SPACE_FOR_INDEX
  )
}
