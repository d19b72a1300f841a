import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import { systemClock } from '../../src/model/time.ts'
import { createDerivations } from '../../src/resources/derived.ts'
import { openStorage } from '../../src/store/open.ts'
import { effort } from '../support/effort.ts'
import { quiet } from '../support/log.ts'
import { startProcess } from '../support/process.ts'
import { freePort } from '../support/ports.ts'
import { createWriter, Writers } from '../support/writers.ts'

/** Until then, the seeded bug must have been found. */
const MAX_KILLS = 20

// On Redis: see concurrency.test.ts.
test('writes under a key are made exactly once while the service is killed, and the seeded bug is found: each attempt has its own key', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-once-'))
  const storage = `fs:${folder}/data`
  const { store, close } = await openStorage(storage, { log: quiet, derived: createDerivations() })
  const token = await createWriter({ store, clock: systemClock, random: systemRandom })
  await close()
  const port = await freePort()
  const start = async () => {
    const service = startProcess(['serve', '--json'], { LANEKEEPER_STORAGE: storage, LANEKEEPER_LOG: 'error', PORT: String(port) })
    await service.until('\n')
    return service
  }
  let service = await start()
  const network = { urls: [`http://127.0.0.1:${port}`], token }
  const [writers, buggy] = [await Writers.start(network), await Writers.start({ ...network, bug: true })]
  const running = [writers.run(8), buggy.run(8)]
  const wanted = effort(2)
  let kills = 0
  const hasDuplicates = async () => {
    const titles = await buggy.titles()
    return titles.length > new Set(titles).size
  }
  do {
    await Promise.all([writers.more('acknowledged', 20), buggy.more('acknowledged', 20)])
    await service.stop('SIGKILL')
    service = await start()
    kills++
  } while (kills < wanted || (kills < MAX_KILLS && !(await hasDuplicates())))
  for (const one of [writers, buggy]) one.stop()
  await Promise.all(running)
  expect(await writers.titles()).toEqual(writers.acknowledged.toSorted())
  expect(await hasDuplicates()).toBe(true)
  console.log(`${kills} kills: ${writers.summary()}`)
  await service.stop()
  await rm(folder, { recursive: true })
})
