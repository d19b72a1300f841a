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
import { openWriter } from '../../dist/store/fs/writer.js'

const [path, bug, reserveSize] = [process.argv[2], process.argv[3], 200_000]
const send = (line) => writeSync(1, `${JSON.stringify(line)}\n`)

/** A seeded bug: writes are delayed in the process, and commits are acknowledged before. */
async function openLazyWriter(...given) {
  const writer = await openWriter(...given)
  const write = async (changes, onlyRemoves) => {
    setTimeout(() => void writer.write(changes, onlyRemoves), 50)
    return { written: true }
  }
  return { ...writer, write }
}

/** A seeded bug: nothing is synced. The thread takes the pragma from here. */
async function openUnsyncedWriter(path, options) {
  return openWriter(path, { ...options, settings: 'PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0' })
}

/** A seeded bug: the bytes of files are not synced. */
const unsynced = async (opened) => ({ ...(await opened), sync: async () => undefined })
const unsyncedDisk = {
  ...realDisk,
  append: (file) => unsynced(realDisk.append(file)),
  create: (file) => unsynced(realDisk.create(file)),
  syncFolder: async () => undefined,
}

try {
  await lockFolder(path, () => undefined)
  const open = { lazy: openLazyWriter, unsynced: openUnsyncedWriter }[bug] ?? openWriter
  const store = await openFsStore(path, {
    log: pino({ level: 'silent' }),
    derived: [],
    checkpointAt: 20_000,
    reserveSize,
    openWriter: open,
  })
  const blobs = createBlobs(createFsBlobDriver(`${path}/bytes`, bug === 'unsynced blobs' ? unsyncedDisk : realDisk))
  send({ ready: true })
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, partition, revision, onlyRemoves, put, remove, indexes, blob, size, ready } = JSON.parse(line)
    const expect = { records: new Map(), indexes: new Map(), capacity: new Map() }
    const work =
      ready === true
        ? store.ready()
        : blob === undefined
          ? store.commit(partition, {
              revision,
              onlyRemoves,
              expect,
              put: new Map(put),
              remove: new Set(remove),
              indexes: new Map(indexes),
            })
          : blobs.write(blob, [Buffer.alloc(size, blob)])
    work.then(
      () => send({ id, outcome: 'done' }),
      (error) =>
        send({ id, error: `${error}${error.cause === undefined ? '' : `: ${error.cause}`}`, outcomeKnown: error.outcomeKnown === true }),
    )
  })
} catch (error) {
  send({ refused: error.message, name: error.name })
  process.exitCode = 1
}
