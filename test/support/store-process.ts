import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { StorageUnavailable, type Change } from '../../src/store/port.ts'
import { requireBuild } from './process.ts'
import { ownProcess, runFolder } from './run.ts'

const script = fileURLToPath(new URL('store-process.js', import.meta.url))

type Message =
  | { readonly ready: true }
  | { readonly refused: string; readonly name: string }
  | { readonly id: number; readonly outcome?: 'done'; readonly error?: string; readonly outcomeKnown?: boolean }

/** A separate process that holds the lock of a folder and writes to it (see store-process.js). */
export class StoreProcess {
  readonly child: ChildProcess
  /** resolves with the reason when the process could not open the folder, otherwise with undefined */
  readonly started: Promise<{ refused: string; name: string } | undefined>
  readonly #pending = new Map<number, { resolve: (outcome: 'done') => void; reject: (error: StorageUnavailable) => void }>()
  readonly #exited: Promise<void>
  #last = 0

  /**
   * @param bug the name of a seeded bug; '' for none
   * @param launcher a command line that executes the command line behind it
   */
  constructor(path: string, bug = '', launcher: readonly string[] = []) {
    requireBuild()
    const [program, ...args] = [...launcher, process.execPath, script, path, bug]
    this.child = ownProcess(spawn(program!, args, { cwd: runFolder(), stdio: ['pipe', 'pipe', 'inherit'] }))
    // Writing to a process that has ended is not an error here.
    this.child.stdin!.on('error', () => undefined)
    let start: (outcome: { refused: string; name: string } | undefined) => void
    this.started = new Promise((resolve) => (start = resolve))
    createInterface({ input: this.child.stdout! }).on('line', (line) => {
      const message = JSON.parse(line) as Message
      if ('ready' in message) start(undefined)
      else if ('refused' in message) start(message)
      else this.#settle(message)
    })
    // All output of the process has been handled before `close`.
    this.#exited = new Promise((resolve) =>
      this.child.once('close', () => {
        for (const { reject } of this.#pending.values()) reject(new StorageUnavailable('the process ended', { outcomeKnown: false }))
        this.#pending.clear()
        resolve()
      }),
    )
  }

  /** Whether the process was killed or has ended. */
  get ended(): boolean {
    return this.child.killed || this.child.exitCode !== null
  }

  commit(partition: string, { revision, onlyRemoves, put, remove, indexes }: Change): Promise<'done'> {
    return this.#send({ partition, revision, onlyRemoves, put: [...put], remove: [...remove], indexes: [...indexes] })
  }

  ready(): Promise<'done'> {
    return this.#send({ ready: true })
  }

  writeBytes(blob: string, size: number): Promise<'done'> {
    return this.#send({ blob, size })
  }

  /** Ends it with SIGKILL. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.#exited
  }

  #send(work: object): Promise<'done'> {
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(new StorageUnavailable('the process was killed'))
      const id = ++this.#last
      this.#pending.set(id, { resolve, reject })
      this.child.stdin!.write(`${JSON.stringify({ id, ...work })}\n`)
    })
  }

  #settle({ id, error, outcomeKnown }: Extract<Message, { id: number }>): void {
    const { resolve, reject } = this.#pending.get(id)!
    this.#pending.delete(id)
    if (error === undefined) resolve('done')
    else reject(new StorageUnavailable(error, { outcomeKnown: outcomeKnown === true }))
  }
}
