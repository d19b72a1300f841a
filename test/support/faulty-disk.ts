import type { Disk, OpenFile } from '../../src/store/fs/disk.ts'
import { FileNode, FolderNode, type DiskNode, type Loss } from './disk-nodes.ts'
import { dice, type Dice } from './random.ts'

/** What goes wrong, from the operation of this number on. */
export type Fault =
  | { readonly at: number; readonly kind: 'dies' }
  | {
      readonly at: number
      readonly kind: 'EIO' | 'ENOSPC'
      /** every one from there on, and not this one alone */
      readonly forever: boolean
      /** how much of it happens all the same; of a write there are parts */
      readonly done: 'nothing' | 'part' | 'all'
    }

type Operation = keyof Disk | keyof OpenFile
/** What a full disk refuses. */
const NEEDS_ROOM: ReadonlySet<Operation> = new Set(['append', 'create', 'write', 'rename', 'makeFolder', 'sync', 'syncFolder'])

/**
 * A disk in memory that may lose all that a real one may lose when the power goes: what was written to a file
 * and not synced, in any torn part; names that came, changed or went in a folder and were not synced. It can die
 * or fail at any operation, and it can be had as it would be found afterwards.
 */
export class FaultyDisk implements Disk {
  /** how many operations there were */
  operations = 0
  /** the operation that a fault met first */
  failed: Operation | undefined
  fault: Fault | undefined
  /** how long an operation may take: so often others get in between, less one */
  turns = 4
  readonly #root: FolderNode
  readonly #die: Dice

  constructor(seed: number, root: FolderNode = new FolderNode()) {
    this.#die = dice(seed)
    this.#root = root
  }

  /** The disk as it would be found if the power went now. */
  after(loss: Loss): FaultyDisk {
    return new FaultyDisk(this.#die(1e9), this.#root.after(loss))
  }

  append(path: string): Promise<OpenFile> {
    return this.#step('append', () => this.#open(path))
  }

  create(path: string): Promise<OpenFile> {
    return this.#step('create', () => this.#open(path, true))
  }

  read(path: string): Promise<Buffer | undefined> {
    return this.#step('read', () => (this.#find(path) as FileNode | undefined)?.content)
  }

  rename(from: string, to: string): Promise<void> {
    return this.#step('rename', () => {
      const node = this.#find(from)
      if (node === undefined) throw failure('ENOENT', 'rename', from)
      this.#folderOf(to).change((names) => void (names.delete(nameOf(from)), names.set(nameOf(to), node)))
    })
  }

  remove(path: string): Promise<void> {
    return this.#step('remove', () => {
      if (this.#find(path) !== undefined) this.#folderOf(path).change((names) => names.delete(nameOf(path)))
    })
  }

  removeFolder(path: string): Promise<void> {
    return this.#step('removeFolder', () => {
      const node = this.#find(path)
      if (node instanceof FolderNode && node.names.size === 0) this.#folderOf(path).change((names) => names.delete(nameOf(path)))
    })
  }

  makeFolder(path: string): Promise<void> {
    return this.#step('makeFolder', () => {
      let above = this.#root
      for (const name of partsOf(path)) {
        if (!above.names.has(name)) {
          const made = new FolderNode()
          above.change((names) => names.set(name, made))
        }
        above = above.names.get(name) as FolderNode
      }
    })
  }

  list(path: string): Promise<string[]> {
    return this.#step('list', () => [...((this.#find(path) as FolderNode | undefined)?.names.keys() ?? [])].toSorted())
  }

  syncFolder(path: string): Promise<void> {
    return this.#step('syncFolder', () => {
      const node = this.#find(path)
      if (node === undefined) throw failure('ENOENT', 'open', path)
      ;(node as FolderNode).sync()
    })
  }

  /** Takes the next number, and does it unless it is the turn of a fault. */
  async #step<T>(operation: Operation, effect: () => T, part: () => unknown = () => undefined, failed?: () => void): Promise<T> {
    // Others get in between as they would on a real one: not always at the same places.
    for (let turns = this.#die(this.turns); turns > 0; turns--) await undefined
    const number = ++this.operations
    const { fault } = this
    if (fault === undefined || number < fault.at) return effect()
    if (fault.kind === 'dies') throw failure('EIO', operation, 'a disk that is no more')
    if ((number > fault.at && !fault.forever) || (fault.kind === 'ENOSPC' && !NEEDS_ROOM.has(operation))) return effect()
    this.failed ??= operation
    if (fault.done === 'all') effect()
    else {
      if (fault.done === 'part') part()
      failed?.()
    }
    throw failure(fault.kind, operation, 'a disk that fails')
  }

  #open(path: string, empty = false): OpenFile {
    const found = this.#find(path)
    const file = found instanceof FileNode ? found : new FileNode()
    if (found === undefined) this.#folderOf(path).change((names) => names.set(nameOf(path), file))
    else if (empty) file.set(Buffer.alloc(0))
    const append = (bytes: Uint8Array) => file.set(Buffer.concat([file.content, bytes]))
    return {
      size: () => this.#step('size', () => file.content.byteLength),
      write: (bytes) =>
        this.#step(
          'write',
          () => append(bytes),
          () => append(bytes.subarray(0, this.#die(bytes.byteLength + 1))),
        ),
      sync: () =>
        this.#step(
          'sync',
          () => file.sync(),
          undefined,
          () => file.drop(),
        ),
      truncate: (size) =>
        this.#step('truncate', () =>
          file.set(Buffer.concat([file.content.subarray(0, size), Buffer.alloc(Math.max(0, size - file.content.byteLength))])),
        ),
      close: () => this.#step('close', () => undefined),
    }
  }

  #find(path: string): DiskNode | undefined {
    let node: DiskNode | undefined = this.#root
    for (const name of partsOf(path)) node = node instanceof FolderNode ? node.names.get(name) : undefined
    return node
  }

  #folderOf(path: string): FolderNode {
    const above = path.slice(0, path.lastIndexOf('/'))
    const folder = this.#find(above)
    if (!(folder instanceof FolderNode)) throw failure('ENOENT', 'open', path)
    return folder
  }
}

const partsOf = (path: string) => path.split('/').filter((part) => part !== '')
const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
const failure = (code: string, syscall: string, about: string) =>
  Object.assign(new Error(`${code}: ${syscall}, ${about}`), { code, syscall })
