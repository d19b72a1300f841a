import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { StorageUnavailable, type Change } from '../../src/store/port.ts'

const script = fileURLToPath(new URL('store-process.js', import.meta.url))

type Message =
  | { readonly ready: true }
  | { readonly refused: string; readonly name: string }
  | { readonly id: number; readonly outcome?: 'done'; readonly error?: string; readonly certain?: boolean }

/** A folder that another process holds. */
export class StoreProcess {
  readonly child: ChildProcess
  /** resolves with why it could not hold the folder, if so */
  readonly started: Promise<{ refused: string; name: string } | undefined>
  readonly #waiting = new Map<number, { resolve: (outcome: 'done') => void; reject: (error: StorageUnavailable) => void }>()
  readonly #exited: Promise<void>
  #last = 0

  constructor(path: string, planted = '') {
    this.child = spawn(process.execPath, [script, path, planted], { stdio: ['pipe', 'pipe', 'inherit'] })
    // What is written after its end is nobody's.
    this.child.stdin!.on('error', () => undefined)
    let start: (outcome: { refused: string; name: string } | undefined) => void
    this.started = new Promise((resolve) => (start = resolve))
    createInterface({ input: this.child.stdout! }).on('line', (line) => {
      const message = JSON.parse(line) as Message
      if ('ready' in message) start(undefined)
      else if ('refused' in message) start(message)
      else this.#answer(message)
    })
    // All that it said is heard before that.
    this.#exited = new Promise((resolve) =>
      this.child.once('close', () => {
        for (const { reject } of this.#waiting.values()) reject(new StorageUnavailable('it ended', { certain: false }))
        this.#waiting.clear()
        resolve()
      }),
    )
  }

  /** Whether it was killed, or has ended by itself. */
  get gone(): boolean {
    return this.child.killed || this.child.exitCode !== null
  }

  commit(partition: string, { revision, put, remove, indexes }: Change): Promise<'done'> {
    return this.#send({ partition, revision, put: [...put], remove: [...remove], indexes: [...indexes] })
  }

  writeBytes(blob: string, size: number): Promise<'done'> {
    return this.#send({ blob, size })
  }

  /** Ends it at once, wherever it is. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.#exited
  }

  #send(work: object): Promise<'done'> {
    return new Promise((resolve, reject) => {
      if (this.gone) return reject(new StorageUnavailable('it was killed'))
      const id = ++this.#last
      this.#waiting.set(id, { resolve, reject })
      this.child.stdin!.write(`${JSON.stringify({ id, ...work })}\n`)
    })
  }

  #answer({ id, error, certain }: Extract<Message, { id: number }>): void {
    const { resolve, reject } = this.#waiting.get(id)!
    this.#waiting.delete(id)
    if (error === undefined) resolve('done')
    else reject(new StorageUnavailable(error, { certain: certain === true }))
  }
}
