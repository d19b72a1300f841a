import type { Disk, OpenFile } from '../../src/store/fs/disk.ts'
import { FileNode, FolderNode, type DiskNode, type Loss } from './disk-nodes.ts'
import { seededRandom, type RandomInteger } from './random.ts'

/** A fault that is injected from operation number `at` on. */
export type Fault =
  | { readonly at: number; readonly kind: 'crash' }
  | {
      readonly at: number
      readonly kind: 'EIO' | 'ENOSPC'
      /** all later operations fail too, not only this one */
      readonly permanent: boolean
      /** how much of the failing operation takes effect; only a write has a partial effect */
      readonly effect: 'none' | 'partial' | 'full'
    }

export type Operation = keyof Disk | keyof OpenFile
/** The operations that fail on a full disk. */
const NEEDS_SPACE: ReadonlySet<Operation> = new Set(['append', 'create', 'write', 'rename', 'makeFolder', 'sync', 'syncFolder'])

/**
 * A disk in memory that can lose everything that a real disk can lose in a power loss: unsynced writes, in part or
 * in whole, and unsynced changes of the names in a folder. It can crash or fail at any operation. `after` returns
 * the disk as it would be found after a power loss.
 */
export class FaultyDisk implements Disk {
  /** number of operations so far */
  operations = 0
  /** their names, in order */
  readonly names: Operation[] = []
  /** the first operation that failed */
  failed: Operation | undefined
  fault: Fault | undefined
  /** maximum duration of an operation, in turns of the microtask queue (exclusive) */
  turns = 4
  /** the size of the parts that a file is read in, in bytes */
  partSize = 100_000
  readonly #root: FolderNode
  readonly #random: RandomInteger

  constructor(seed: number, root: FolderNode = new FolderNode()) {
    this.#random = seededRandom(seed)
    this.#root = root
  }

  /** The disk as it would be found after a power loss now. */
  after(loss: Loss): FaultyDisk {
    return new FaultyDisk(this.#random(1e9), this.#root.after(loss))
  }

  /**
   * The same disk for the next process, with what is not synced yet. The present process is killed: operations that it
   * has begun have no effect any more.
   */
  afterKill(): FaultyDisk {
    this.fault = { at: 0, kind: 'crash' }
    return new FaultyDisk(this.#random(1e9), this.#root)
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

  async *readParts(path: string): AsyncGenerator<Buffer> {
    for (let offset = 0; ; offset += this.partSize) {
      const part = await this.#step('readParts', () => {
        const node = this.#find(path)
        if (node === undefined) throw systemError('ENOENT', 'open', path)
        return (node as FileNode).content.subarray(offset, offset + this.partSize)
      })
      if (part.byteLength === 0) return
      yield part
    }
  }

  rename(from: string, to: string): Promise<void> {
    return this.#step('rename', () => {
      const node = this.#find(from)
      if (node === undefined) throw systemError('ENOENT', 'rename', from)
      this.#parentOf(to).change((names) => void (names.delete(nameOf(from)), names.set(nameOf(to), node)))
    })
  }

  remove(path: string): Promise<void> {
    return this.#step('remove', () => {
      if (this.#find(path) !== undefined) this.#parentOf(path).change((names) => names.delete(nameOf(path)))
    })
  }

  removeFolder(path: string): Promise<void> {
    return this.#step('removeFolder', () => {
      const node = this.#find(path)
      if (node instanceof FolderNode && node.names.size === 0) this.#parentOf(path).change((names) => names.delete(nameOf(path)))
    })
  }

  makeFolder(path: string): Promise<void> {
    return this.#step('makeFolder', () => {
      let parent = this.#root
      for (const name of partsOf(path)) {
        if (!parent.names.has(name)) {
          const folder = new FolderNode()
          parent.change((names) => names.set(name, folder))
        }
        parent = parent.names.get(name) as FolderNode
      }
    })
  }

  list(path: string): Promise<string[]> {
    return this.#step('list', () => [...((this.#find(path) as FolderNode | undefined)?.names.keys() ?? [])].toSorted())
  }

  // Only the metrics need these two, so they never fail.
  async sizeOf(path: string): Promise<number> {
    return (this.#find(path) as FileNode | undefined)?.content.byteLength ?? 0
  }

  async freeBytes(): Promise<number> {
    return 1e9
  }

  syncFolder(path: string): Promise<void> {
    return this.#step('syncFolder', () => {
      const node = this.#find(path)
      if (node === undefined) throw systemError('ENOENT', 'open', path)
      ;(node as FolderNode).sync()
    })
  }

  /**
   * Counts an operation and executes it, unless the fault applies.
   * @param partialEffect replaces the effect when the operation fails with a partial effect
   * @param onFailure is called when the operation fails without a full effect
   */
  async #step<T>(
    operation: Operation,
    effect: () => T,
    partialEffect: () => unknown = () => undefined,
    onFailure?: () => void,
  ): Promise<T> {
    // Concurrent operations interleave at random points, as on a real disk.
    for (let turns = this.#random(this.turns); turns > 0; turns--) await undefined
    return this.#stepNow(operation, effect, partialEffect, onFailure)
  }

  #stepNow<T>(operation: Operation, effect: () => T, partialEffect: () => unknown = () => undefined, onFailure?: () => void): T {
    const number = ++this.operations
    this.names.push(operation)
    const { fault } = this
    if (fault === undefined || number < fault.at) return effect()
    if (fault.kind === 'crash') throw systemError('EIO', operation, 'the simulated machine has crashed')
    if ((number > fault.at && !fault.permanent) || (fault.kind === 'ENOSPC' && !NEEDS_SPACE.has(operation))) return effect()
    this.failed ??= operation
    if (fault.effect === 'full') effect()
    else {
      if (fault.effect === 'partial') partialEffect()
      onFailure?.()
    }
    throw systemError(fault.kind, operation, 'injected fault of the disk')
  }

  #open(path: string, truncate = false): OpenFile {
    const node = this.#find(path)
    const file = node instanceof FileNode ? node : new FileNode()
    if (node === undefined) this.#parentOf(path).change((names) => names.set(nameOf(path), file))
    else if (truncate) file.set(Buffer.alloc(0))
    const append = (bytes: Uint8Array) => file.set(Buffer.concat([file.content, bytes]))
    const appending = (bytes: Uint8Array) =>
      [() => append(bytes), () => append(bytes.subarray(0, this.#random(bytes.byteLength + 1)))] as const
    return {
      size: () => this.#step('size', () => file.content.byteLength),
      write: (bytes) => this.#step('write', ...appending(bytes)),
      writeNow: (bytes) => this.#stepNow('write', ...appending(bytes)),
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
      isAt: (other) => this.#step('isAt', () => this.#find(other) === file),
      close: () => this.#step('close', () => undefined),
    }
  }

  #find(path: string): DiskNode | undefined {
    let node: DiskNode | undefined = this.#root
    for (const name of partsOf(path)) node = node instanceof FolderNode ? node.names.get(name) : undefined
    return node
  }

  #parentOf(path: string): FolderNode {
    const parent = this.#find(path.slice(0, path.lastIndexOf('/')))
    if (!(parent instanceof FolderNode)) throw systemError('ENOENT', 'open', path)
    return parent
  }
}

/** path → its parts: a search uses the same few paths millions of times */
const knownParts = new Map<string, readonly string[]>()
function partsOf(path: string): readonly string[] {
  let parts = knownParts.get(path)
  if (parts === undefined) knownParts.set(path, (parts = path.split('/').filter((part) => part !== '')))
  return parts
}
const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
const systemError = (code: string, syscall: string, subject: string) =>
  Object.assign(new Error(`${code}: ${syscall}, ${subject}`), { code, syscall })
