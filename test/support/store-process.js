// Holds a folder in a process of its own, and does in it what it is told in lines of JSON. Plain JavaScript over
// what was built: the oldest Node that is supported reads no TypeScript.
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { pino } from 'pino'
import { createBlobs } from '../../dist/store/blobs.js'
import { realDisk } from '../../dist/store/fs/disk.js'
import { durableDriver } from '../../dist/store/fs/blob-driver.js'
import { lockFolder } from '../../dist/store/fs/lock.js'
import { openFsStore } from '../../dist/store/fs/open.js'

const [path, planted] = process.argv.slice(2)
const say = (line) => writeSync(1, `${JSON.stringify(line)}\n`)

/** A planted bug: what was written waits in the process, and is told as done. */
const lazyDisk = {
  ...realDisk,
  async append(file) {
    const opened = await realDisk.append(file)
    let waiting = Promise.resolve()
    return {
      ...opened,
      write: async (bytes) =>
        void (waiting = waiting.then(() => new Promise((resolve) => setImmediate(resolve)).then(() => opened.write(bytes)))),
      sync: async () => undefined,
      close: () => waiting.then(() => opened.close()),
    }
  },
}

try {
  await lockFolder(path, () => undefined)
  const disk = planted === 'lazy' ? lazyDisk : realDisk
  const store = await openFsStore(path, { log: pino({ level: 'silent' }), disk, compactAt: 20_000 })
  const blobs = createBlobs(durableDriver(`${path}/bytes`))
  say({ ready: true })
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, partition, revision, put, remove, indexes, blob, size } = JSON.parse(line)
    const expect = { records: new Map(), indexes: new Map(), capacity: new Map() }
    const work =
      blob === undefined
        ? store.commit(partition, { revision, expect, put: new Map(put), remove: new Set(remove), indexes: new Map(indexes) })
        : blobs.write(blob, [Buffer.alloc(size, blob)])
    work.then(
      () => say({ id, outcome: 'done' }),
      (error) => say({ id, error: String(error), certain: error.certain === true }),
    )
  })
} catch (error) {
  say({ refused: error.message, name: error.name })
  process.exitCode = 1
}
