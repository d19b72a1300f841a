/**
 * The one way to storage. Everything that is stored belongs to a partition (a workspace, or what belongs to
 * none), and nothing reaches across two. A partition holds records under keys, and ordered indexes.
 *
 * Drivers differ in where the bytes are; what they promise is here, and one contract suite holds them to it.
 */

/** A record's value: plain JSON, frozen. */
export type Value = Readonly<Record<string, unknown>>

/** A record as it was at one moment. */
export interface Stored {
  readonly value: Value
  /** another one after every change, never used twice, telling nothing */
  readonly revision: string
}

/**
 * The key of a record, or a template of one: `board:{0.board_id}` stands for the key that has the member
 * `board_id` of the record with index 0 of the same read in its place. So what hangs together is read
 * together, in one snapshot and one round trip.
 */
export type Reference = string

/** A piece of an index, in its order (by bytes). */
export interface IndexRange {
  readonly index: string
  /** only entries that come after this text (which need not be one) */
  readonly after?: string | undefined
  /** only entries that come before this text */
  readonly before?: string | undefined
  /** from the end backwards */
  readonly reverse?: boolean
  readonly limit: number
  /** reads the records of the entries too: `card:` and the last word of an entry make the key */
  readonly fetch?: string
}

/** What a unit of work has relied on so far: that these are still as they were. */
export interface Expectation {
  /** key → revision, or null where there was no record */
  readonly records: ReadonlyMap<string, string | null>
  /** index → its revision, or null where nothing is in it */
  readonly indexes: ReadonlyMap<string, string | null>
  /** index → how many entries it may have before this change */
  readonly capacity: ReadonlyMap<string, number>
}

/** What to read, all in one snapshot. */
export interface ReadRequest {
  readonly records: readonly Reference[]
  readonly ranges: readonly IndexRange[]
  /** indexes whose entries are to be counted */
  readonly counts: readonly string[]
  /** what must still hold for the snapshot to be of any use */
  readonly expect: Expectation
}

/** What was read. Everything in it, and everything expected, was so at one moment. */
export interface Snapshot {
  /** for each reference, its key and record; the key is null where a template led nowhere */
  readonly records: readonly { readonly key: string | null; readonly stored: Stored | null }[]
  readonly ranges: readonly {
    readonly entries: readonly string[]
    /** of the index; null where nothing is in it */
    readonly revision: string | null
    /** where asked for, the record of each entry */
    readonly records: readonly (Stored | null)[]
  }[]
  readonly counts: readonly number[]
}

/** One change: all of it is done, or nothing. */
export interface Change {
  /** the revision of everything that it writes; also tells a repeated commit from a new one */
  readonly revision: string
  readonly expect: Expectation
  readonly put: ReadonlyMap<string, Value>
  readonly remove: ReadonlySet<string>
  /** index → entries that come and go */
  readonly indexes: ReadonlyMap<string, { readonly add: readonly string[]; readonly remove: readonly string[] }>
}

/** Storage cannot be reached, or does not know whether it did what it was asked. */
export class StorageUnavailable extends Error {
  override readonly name = 'Unavailable'
  /** whether it is certain that nothing was changed */
  readonly outcomeKnown: boolean

  constructor(message: string, { certain = true, cause }: { certain?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.outcomeKnown = certain
  }
}

/** A place where records are. Methods throw {@link StorageUnavailable} and nothing else on purpose. */
export interface Store {
  /** memory, fs, redis … */
  readonly driver: string
  /** @returns null where something expected is no longer so */
  read(partition: string, request: ReadRequest): Promise<Snapshot | null>
  /** A change that was committed survives whatever the driver promises to survive. */
  commit(partition: string, change: Change): Promise<'done' | 'conflict'>
  /**
   * All records of a partition, as they were at one moment: for a backup.
   * @throws {StorageUnavailable} where others kept changing it
   */
  dump(partition: string): AsyncIterable<readonly (readonly [key: string, value: Value])[]>
  /** @throws {StorageUnavailable} where it cannot be read or written now */
  ready(): Promise<void>
  /** Lets go of everything. Nothing may be asked afterwards. */
  close(): Promise<void>
}
