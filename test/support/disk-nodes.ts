import type { Dice } from './random.ts'

/** What is left of what was not synced: nothing of it, all of it, or what the dice say. */
export type Loss = 'nothing kept' | 'all kept' | Dice

/** A file: its content, and what of it is safe. */
export class FileNode {
  content: Buffer = Buffer.alloc(0)
  #synced: Buffer = this.content
  /** the contents it went through since it was synced */
  #unsynced: Buffer[] = []
  /** after a failed sync: the system thinks that all is written, and it is not */
  #dropped = false

  set(content: Buffer): void {
    this.content = content
    // What is written whole again is no longer missing.
    if (content.byteLength === 0) this.#dropped = false
    this.#unsynced.push(content)
  }

  sync(): void {
    if (this.#dropped) return
    this.#synced = this.content
    this.#unsynced = []
  }

  /** A sync failed: a later one finds nothing left to do, though this was never written. */
  drop(): void {
    this.#dropped = this.#unsynced.length > 0
  }

  after(loss: Loss): FileNode {
    const left = new FileNode()
    left.content = loss === 'nothing kept' ? this.#synced : loss === 'all kept' ? this.content : this.#torn(loss)
    left.#synced = left.content
    return left
  }

  #torn(die: Dice): Buffer {
    const states = [this.#synced, ...this.#unsynced]
    const at = die(states.length)
    const from = states[at]!
    const next = states[at + 1]
    if (next === undefined || next.byteLength <= from.byteLength) return from
    // Of what was being appended, a part; and of that, its length may be there before its bytes.
    const part = Buffer.from(next.subarray(0, from.byteLength + die(next.byteLength - from.byteLength + 1)))
    if (die(3) === 0) part.fill(0, from.byteLength + die(part.byteLength - from.byteLength + 1))
    return part
  }
}

type Names = Map<string, DiskNode>
export type DiskNode = FileNode | FolderNode

/** A folder: its names, and which of them are safe. */
export class FolderNode {
  readonly names: Names = new Map()
  #synced: Names = new Map()
  #unsynced: ((names: Names) => void)[] = []

  change(step: (names: Names) => void): void {
    step(this.names)
    this.#unsynced.push(step)
  }

  sync(): void {
    this.#synced = new Map(this.names)
    this.#unsynced = []
  }

  after(loss: Loss): FolderNode {
    const names: Names = new Map(loss === 'all kept' ? this.names : this.#synced)
    if (typeof loss === 'function') {
      // A journaling file system keeps the first so many of the changes; another may keep any of them.
      const orderly = loss(2) === 0
      const most = loss(this.#unsynced.length + 1)
      for (const [i, step] of this.#unsynced.entries()) if (orderly ? i < most : loss(2) === 0) step(names)
    }
    const left = new FolderNode()
    for (const [name, node] of names) left.names.set(name, node.after(loss))
    left.#synced = new Map(left.names)
    return left
  }
}
