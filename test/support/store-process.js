// Holds the lock of a folder and executes commands that arrive on stdin as lines of JSON. Written in JavaScript
// against the built files, because the oldest supported Node version cannot run TypeScript.
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { pino } from 'pino'
import { createBlobs } from '../../dist/store/blobs.js'
import { realDisk } from '../../dist/store/fs/disk.js'
import { createFsBlobDriver } from '../../dist/store/fs/blob-driver.js'
import { lockFolder } from '../../dist/store/fs/lock.js'
import { openFsStore } from '../../dist/store/fs/store.js'

const [path, bug] = process.argv.slice(2)
const send = (line) => writeSync(1, `${JSON.stringify(line)}\n`)

/** A seeded bug: writes are delayed in the process, and commits are acknowledged before. */
const lazyDisk = {
  ...realDisk,
  async append(file) {
    const opened = await realDisk.append(file)
    let writes = Promise.resolve()
    return {
      ...opened,
      write: async (bytes) =>
        void (writes = writes.then(() => new Promise((resolve) => setTimeout(resolve, 50)).then(() => opened.write(bytes)))),
      sync: async () => undefined,
      close: () => writes.then(() => opened.close()),
    }
  },
}

/** A seeded bug: nothing is synced. */
const unsynced = async (opened) => ({ ...(await opened), sync: async () => undefined })
const unsyncedDisk = {
  ...realDisk,
  append: (file) => unsynced(realDisk.append(file)),
  create: (file) => unsynced(realDisk.create(file)),
  syncFolder: async () => undefined,
}

try {
  const lock = await lockFolder(path, () => undefined)
  const disk = { lazy: lazyDisk, unsynced: unsyncedDisk }[bug] ?? realDisk
  const store = await openFsStore(path, { log: pino({ level: 'silent' }), disk, compactAt: 20_000, isLocked: lock.isHeld })
  const blobs = createBlobs(createFsBlobDriver(`${path}/bytes`, bug === 'unsynced blobs' ? unsyncedDisk : realDisk))
  send({ ready: true })
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, partition, revision, put, remove, indexes, blob, size } = JSON.parse(line)
    const expect = { records: new Map(), indexes: new Map(), capacity: new Map() }
    const work =
      blob === undefined
        ? store.commit(partition, { revision, expect, put: new Map(put), remove: new Set(remove), indexes: new Map(indexes) })
        : blobs.write(blob, [Buffer.alloc(size, blob)])
    work.then(
      () => send({ id, outcome: 'done' }),
      (error) => send({ id, error: String(error), outcomeKnown: error.outcomeKnown === true }),
    )
  })
} catch (error) {
  send({ refused: error.message, name: error.name })
  process.exitCode = 1
}
