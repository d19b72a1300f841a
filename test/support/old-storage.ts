import { afterEach, beforeEach } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import { migrateStore } from '../../src/store/migrations/run.ts'
import { openStorage, type StorageHandle } from '../../src/store/open.ts'
import { quiet } from './log.ts'
import { copyFolder, loadRedis } from './old-format.ts'
import { startRedis } from './redis.ts'

/** A copy of a fixture as storage, a new one for each test of the suite that calls this. */
export class OldStorage {
  /** as in LANEKEEPER_STORAGE */
  address = ''
  handle: StorageHandle | undefined
  readonly #root: string
  readonly #driver: string
  #remove: () => Promise<unknown> = () => Promise.resolve()

  constructor(root: string, driver: string) {
    this.#root = root
    this.#driver = driver
    beforeEach(() => this.create())
    afterEach(() => this.remove())
  }

  async create(): Promise<void> {
    if (this.#driver === 'redis') {
      const server = await startRedis()
      this.address = server.url
      this.#remove = () => server.stop()
      await loadRedis(this.#root, this.address)
    } else {
      const folder = await copyFolder(this.#root)
      this.address = `fs:${folder.path}`
      this.#remove = folder.remove
    }
  }

  async remove(): Promise<void> {
    await this.close()
    await this.#remove()
  }

  async open(options: object = {}): Promise<StorageHandle> {
    return (this.handle = await openStorage(this.address, { log: quiet, ...options }))
  }

  async close(): Promise<void> {
    await this.handle?.close()
    this.handle = undefined
  }

  /** Opens it with present records, as the service does after `lanekeeper migrate`. */
  async openMigrated(): Promise<StorageHandle> {
    const { store } = await this.open({ allowOutdated: true })
    await migrateStore({ store, random: systemRandom })
    await this.close()
    return this.open()
  }
}
