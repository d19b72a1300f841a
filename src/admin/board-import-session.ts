import type { Board } from '../model/board.ts'
import { newId } from '../model/ids.ts'
import { HOUR, timestamp } from '../model/time.ts'
import type { Tombstone } from '../model/tombstone.ts'
import { isActive } from '../model/workspace.ts'
import { ChangeLog, SERVICE, type Author, type KnownRecords } from '../store/change-log.ts'
import { keys, type Key } from '../store/keys.ts'
import type { Change } from '../store/port.ts'
import { transact } from '../store/transact.ts'
import type { Transaction } from '../store/transaction.ts'
import type { BoardRecord } from './board-records.ts'
import { AdminError, type AdminDeps } from './deps.ts'
import { collectGarbage } from './garbage-collection.ts'

/** Records of one commit, and their characters. */
const MAX_RECORDS = 200
const MAX_CHARACTERS = 1_000_000
/** The time without a commit after which garbage collection removes what was written. */
const LEASE = HOUR

/**
 * A board that is being written. Its own record is written last, so no request finds anything of it before. Until then it has the
 * tombstone of a deleted board, which is due in an hour and is put off by the commits: whatever ends the import, nothing remains.
 */
export class HiddenBoard {
  readonly id: string
  readonly #deps: AdminDeps
  readonly #workspaceId: string
  readonly #userId: string
  readonly #tombstone: Key<Tombstone>
  readonly #log: ChangeLog
  readonly #keys: string[] = []
  #batch: BoardRecord[] = []
  #characters = 0
  #published = 0
  #hasWritten = false

  private constructor(deps: AdminDeps, workspaceId: string, userId: string) {
    this.id = newId('board', deps.random)
    this.#deps = deps
    this.#workspaceId = workspaceId
    this.#userId = userId
    this.#tombstone = keys.tombstone(newId('tombstone', deps.random))
    this.#log = new LogOfHiddenBoard(deps.clock, keys.board(this.id))
  }

  /** @throws {StorageUnavailable} */
  static async begin(deps: AdminDeps, workspaceId: string, userId: string): Promise<HiddenBoard> {
    const board = new HiddenBoard(deps, workspaceId, userId)
    await transact(deps.store, workspaceId, deps.random, async (tx) => {
      tx.logChanges(board.#log, SERVICE)
      tx.create(board.#tombstone, board.#tombstoneUntil(LEASE))
    })
    return board
  }

  /** How many records were written so far. */
  get count(): number {
    return this.#keys.length + this.#published
  }

  /** Whether the last call has committed something. */
  get hasWritten(): boolean {
    return this.#hasWritten
  }

  /** Takes records, and writes them when they are enough for a commit. @throws {AdminError} `conflict` */
  async write(records: readonly BoardRecord[]): Promise<void> {
    this.#hasWritten = false
    for (const record of records) {
      this.#batch.push(record)
      this.#characters += JSON.stringify(record).length
      if (this.#batch.length >= MAX_RECORDS || this.#characters >= MAX_CHARACTERS) await this.#flush()
    }
  }

  /** Makes the board accessible. @throws {AdminError} `conflict` */
  async publish(board: Board): Promise<void> {
    await this.#flush()
    await this.#commit([], async (tx) => {
      tx.create(keys.board(this.id), board)
      tx.remove(this.#tombstone)
    })
    this.#published = 1
  }

  /** Removes everything that was written, unless the board is accessible. */
  async clear(): Promise<void> {
    const { store, random } = this.#deps
    const commit = (work: (tx: Transaction) => Promise<boolean>) => transact(store, this.#workspaceId, random, work)
    const isHidden = await commit(async (tx) => {
      const [present] = await tx.read([this.#tombstone])
      if (present !== undefined) tx.put(this.#tombstone, this.#tombstoneUntil(0))
      return present !== undefined
    })
    if (!isHidden) return
    // Garbage collection would remove the same, in many more commits.
    for (let from = 0; from < this.#keys.length; from += MAX_RECORDS) {
      const batch = this.#keys.slice(from, from + MAX_RECORDS) as Key<object>[]
      await commit(async (tx) => {
        const values = await tx.read(batch)
        for (const [i, key] of batch.entries()) if (values[i] !== undefined) tx.remove(key)
        return true
      })
    }
    await collectGarbage(this.#deps, this.#workspaceId)
  }

  async #flush(): Promise<void> {
    const batch = this.#batch
    if (batch.length === 0) return
    // A commit whose outcome is unknown may have been made.
    for (const [key] of batch) this.#keys.push(key)
    await this.#commit(batch, async (tx) => {
      for (const [key, value] of batch) tx.create(key as Key<object>, value)
    })
    this.#hasWritten = true
    this.#batch = []
    this.#characters = 0
  }

  /** Each commit requires that garbage collection has not begun, and that everyone whom the records name is still a member. */
  #commit(records: readonly BoardRecord[], work: (tx: Transaction) => Promise<void>): Promise<void> {
    const { store, random, clock } = this.#deps
    const users = [...new Set([this.#userId, ...records.flatMap(usersOf)])]
    return transact(store, this.#workspaceId, random, async (tx) => {
      await tx.read([keys.workspace(), this.#tombstone, ...users.map((userId) => keys.membership(userId)), ...parentsOf(records)])
      const [workspace, tombstone] = [tx.known(keys.workspace()), tx.known(this.#tombstone)]
      const now = timestamp(clock)
      if (workspace === undefined || tombstone === undefined || tombstone.not_before <= now)
        throw new AdminError('conflict', 'the import has stood still for an hour, and its records are being removed; begin again')
      const absent = users.find((userId) => !isActive(tx.known(keys.membership(userId))))
      if (absent !== undefined) throw new AdminError('conflict', `${absent} is no longer a member of ${this.#workspaceId}; begin again`)
      if (tombstone.not_before < timestamp(() => clock() + LEASE / 2)) tx.put(this.#tombstone, this.#tombstoneUntil(LEASE))
      tx.logChanges(this.#log, SERVICE)
      await work(tx)
    })
  }

  #tombstoneUntil(lease: number): Tombstone {
    const not_before = timestamp(() => this.#deps.clock() + lease)
    return { id: this.#tombstone.slice('tombstone:'.length), kind: 'board', target: this.id, not_before }
  }
}

/** The users whom a record names. */
function usersOf([, { assignee_ids = [], author_id, user_id }]: BoardRecord): string[] {
  return [...(assignee_ids as string[]), author_id, user_id].filter((id) => typeof id === 'string')
}

/** The cards of earlier commits to which records belong: the feed of changes needs their board. */
function parentsOf(records: readonly BoardRecord[]): Key<object>[] {
  const own = new Set(records.map(([key]) => key))
  const parents = records.flatMap(([, { card_id }]) => (typeof card_id === 'string' ? [keys.card(card_id)] : []))
  return [...new Set(parents)].filter((key) => !own.has(key)) as Key<object>[]
}

/**
 * Writes the feed of a board that has no record yet, as if it had one: when it has one, the feed begins with its creation and has
 * everything that is on it.
 */
class LogOfHiddenBoard extends ChangeLog {
  readonly #board: string
  #begun = false

  constructor(clock: () => number, board: string) {
    super(clock)
    this.#board = board
  }

  override addTo(change: Change, author: Author, records: KnownRecords): Change {
    const board = change.put.get(this.#board)
    const known = (key: string) => (key === this.#board ? {} : records.known(key))
    const others = [...change.put].filter(([key]) => key !== this.#board)
    const logged = new Map(this.#begun ? others : [[this.#board, {}], ...others])
    const added = super.addTo({ ...change, put: logged }, author, { ...records, known })
    const put = new Map(added.put)
    put.delete(this.#board)
    return { ...added, put: board === undefined ? put : put.set(this.#board, board) }
  }

  override committed(change: Change): void {
    this.#begun = true
    super.committed(change)
  }
}
