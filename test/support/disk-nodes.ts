import type { RandomInteger } from './random.ts'

/** What remains of unsynced changes after a power loss: none of them, all of them, or a random part. */
export type Loss = 'nothing kept' | 'all kept' | RandomInteger

/** A file: its content, and the part of it that is synced. */
export class FileNode {
  content: Buffer = Buffer.alloc(0)
  #synced: Buffer = this.content
  /** the contents since the last sync, in order */
  #unsynced: Buffer[] = []
  /** after a failed sync: the operating system considers everything written, although it is not */
  #dropped = false

  set(content: Buffer): void {
    this.content = content
    // The file is written again from its beginning, so dropped data no longer matters.
    if (content.byteLength === 0) this.#dropped = false
    this.#unsynced.push(content)
  }

  sync(): void {
    if (this.#dropped) return
    this.#synced = this.content
    this.#unsynced = []
  }

  /** Simulates a failed sync: later syncs succeed, although the data was never written. */
  drop(): void {
    this.#dropped = this.#unsynced.length > 0
  }

  after(loss: Loss): FileNode {
    const file = new FileNode()
    file.content = loss === 'nothing kept' ? this.#synced : loss === 'all kept' ? this.content : this.#torn(loss)
    file.#synced = file.content
    return file
  }

  #torn(random: RandomInteger): Buffer {
    const states = [this.#synced, ...this.#unsynced]
    const index = random(states.length)
    const state = states[index]!
    const next = states[index + 1]
    if (next === undefined || next.byteLength <= state.byteLength) return state
    // A part of an append; the file may also have its new length before it has the new bytes.
    const part = Buffer.from(next.subarray(0, state.byteLength + random(next.byteLength - state.byteLength + 1)))
    if (random(3) === 0) part.fill(0, state.byteLength + random(part.byteLength - state.byteLength + 1))
    return part
  }
}

type Names = Map<string, DiskNode>
export type DiskNode = FileNode | FolderNode

/** A folder: its names, and those that are synced. */
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
      // A journaling file system keeps a prefix of the changes; other file systems keep any subset.
      const journaling = loss(2) === 0
      const prefix = loss(this.#unsynced.length + 1)
      for (const [i, step] of this.#unsynced.entries()) if (journaling ? i < prefix : loss(2) === 0) step(names)
    }
    const folder = new FolderNode()
    for (const [name, node] of names) folder.names.set(name, node.after(loss))
    folder.#synced = new Map(folder.names)
    return folder
  }
}
