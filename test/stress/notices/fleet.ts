import { addMember } from '../../../src/admin/memberships.ts'
import { addUser } from '../../../src/admin/users.ts'
import { createWorkspace } from '../../../src/admin/workspaces.ts'
import { setAccount } from '../../../src/auth/accounts/sign-up.ts'
import { issueToken } from '../../../src/auth/tokens/issue.ts'
import { systemRandom as random } from '../../../src/model/ids.ts'
import { noticeEntry } from '../../../src/model/notice.ts'
import { systemClock as clock, DAY } from '../../../src/model/time.ts'
import { createDerivations } from '../../../src/resources/derived.ts'
import { GLOBAL, keys } from '../../../src/store/keys.ts'
import { openStorage } from '../../../src/store/open.ts'
import { transact } from '../../../src/store/transact.ts'
import { quiet } from '../../support/log.ts'
import { freePort } from '../../support/ports.ts'
import { startService, type StartedService } from '../../support/process.ts'

/** A person with a token. */
export interface Reader {
  readonly id: string
  readonly plaintext: string
  readonly email: string
}

/** The tokens that end within 14 days: one notice each. */
export const ENDING = 30

/**
 * A workspace in a storage that no process uses. Ann and Bob own it, and tokens of Bob end soon. The readers have e-mail addresses, and are
 * members.
 */
export async function fill(address: string, count: number) {
  const { store, close } = await openStorage(address, { log: quiet, derived: createDerivations() })
  const deps = { store, clock, random }
  const { id: workspaceId } = await createWorkspace(deps, 'Acme')
  const issue = (userId: string, name: string) =>
    transact(store, workspaceId, random, (tx) => issueToken(tx, { userId, name, scopes: ['kanban:admin'], lifetime: 60 * DAY }, deps))
  const add = async (name: string, role: 'owner' | 'member'): Promise<Reader> => {
    const user = await addUser(deps, { display_name: name })
    await addMember(deps, workspaceId, user, role)
    return { id: user.id, plaintext: (await issue(user.id, name)).plaintext, email: `${user.id}@example.org` }
  }
  const [ann, bob] = [await add('Ann', 'owner'), await add('Bob', 'owner')]
  const readers: Reader[] = []
  while (readers.length < count) {
    const reader = await add(`Reader ${readers.length}`, 'member')
    const account = { userId: reader.id, email: reader.email, passwordHash: 'none' }
    await transact(store, GLOBAL, random, (tx) => setAccount(tx, account, clock))
    readers.push(reader)
  }
  // They were issued for 15 days, and end in 12.
  const past = { store, random, clock: () => clock() - 3 * DAY }
  for (let i = 0; i < ENDING; i++)
    await transact(store, workspaceId, random, (tx) =>
      issueToken(tx, { userId: bob.id, name: `t${i}`, scopes: ['kanban:read'], lifetime: 15 * DAY }, past),
    )
  await close()
  return { workspaceId, ann, bob, readers }
}

/** When notices of a person were marked as mailed, in a storage that no process uses; undefined: never. */
export async function markedAt(address: string, workspaceId: string, notices: readonly (readonly [userId: string, id: string])[]) {
  const { store, close } = await openStorage(address, { log: quiet, derived: createDerivations() })
  const wanted = notices.map(([userId, id]) => keys.notice(userId, noticeEntry(id)!))
  const records = await transact(store, workspaceId, random, (tx) => tx.read(wanted))
  await close()
  return records.map((record) => record?.mailed_at)
}

/** Processes of the built service on one storage, whose ports stay the same, and whose clocks the test moves. */
export class Fleet {
  readonly urls: readonly string[]
  readonly #env: Readonly<Record<string, string>>
  readonly #all: StartedService[] = []
  #ahead = 0
  /** processes end and start one after the other */
  #queue: Promise<void> = Promise.resolve()
  kills = 0
  /** when the last process was killed, on its clock */
  lastKill = ''

  private constructor(ports: readonly number[], env: Readonly<Record<string, string>>) {
    this.urls = ports.map((port) => `http://127.0.0.1:${port}`)
    const preload = new URL('moved-clock.js', import.meta.url).href
    this.#env = { ...env, NODE_OPTIONS: `--import=${preload}`, LANEKEEPER_RATE_LIMITS: 'off' }
  }

  /** @param smtp the mail server */
  static async start(address: string, count: number, smtp: string): Promise<Fleet> {
    const ports: number[] = []
    while (ports.length < count) ports.push(await freePort())
    const fleet = new Fleet(ports, {
      LANEKEEPER_STORAGE: address,
      LANEKEEPER_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      LANEKEEPER_SMTP: smtp,
      LANEKEEPER_URL: 'https://kanban.example',
    })
    for (let i = 0; i < count; i++) await fleet.#start(i)
    return fleet
  }

  /**
   * Stops all processes, and starts them with a later clock: a clock that jumps would end the connections of mails that are on their way. So
   * they look for what is due at the same time.
   */
  advance(milliseconds: number): Promise<void> {
    return this.#next(async () => {
      this.#ahead += milliseconds
      await Promise.all(this.#all.map((service) => service.stop()))
      await Promise.all(this.#all.map((_service, i) => this.#start(i)))
    })
  }

  /** The process that has sent a mail, if it has the present clock. */
  senderOf(from: string): number | undefined {
    const i = this.urls.findIndex((_url, one) => this.#sender(one) === from)
    return i === -1 ? undefined : i
  }

  /** Ends a process, and starts it again. */
  restart(i: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    return this.#next(async () => {
      await this.#all[i]!.stop(signal)
      if (signal === 'SIGKILL') {
        this.kills++
        this.lastKill = new Date(clock() + this.#ahead).toISOString()
      }
      await this.#start(i)
    })
  }

  #next(step: () => Promise<void>): Promise<void> {
    return (this.#queue = this.#queue.then(step))
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((service) => service.stop('SIGKILL')))
  }

  #sender(i: number): string {
    return `${i}.${this.#ahead}@example.org`
  }

  async #start(i: number): Promise<void> {
    const { port } = new URL(this.urls[i]!)
    const env = { ...this.#env, PORT: port, CLOCK_AHEAD: String(this.#ahead), LANEKEEPER_MAIL_FROM: this.#sender(i) }
    this.#all[i] = await startService([], env, { underLoad: true })
  }
}
