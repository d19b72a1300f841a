import { expect, test } from 'vitest'
import { toApiError } from '../../src/http/error-mapping.ts'
import { lazy, loadLazy, NotLoaded, once } from '../../src/model/lazy.ts'
import { errorOf } from '../support/error-of.ts'
import { quiet } from '../support/log.ts'

const failing = (code: string) => Object.assign(new Error(code), { code })

/** Something that is loaded after some failures. */
function loaded(failures: readonly Error[], rest: Parameters<typeof lazy>[1] = {}) {
  const left = [...failures]
  return lazy(async () => {
    const failure = left.shift()
    if (failure !== undefined) throw failure
    return 'loaded'
  }, rest)
}

test('a module that cannot be loaded now fails the requests that need it with 503, and is tried again', async () => {
  const get = loaded([failing('EMFILE')], { among: [] })
  const error = await errorOf(get())
  expect(error).toBeInstanceOf(NotLoaded)
  expect(toApiError(quiet, 'id', error)).toMatchObject({ code: 'unavailable', status: 503, details: { headers: { 'retry-after': '1' } } })
  expect(await get()).toBe('loaded')
})

test('nothing is loaded as long as there are too few descriptors', async () => {
  let [hasRoom, loads] = [false, 0]
  const get = lazy(async () => void loads++, { among: [], hasRoom: () => hasRoom })
  expect({ error: await errorOf(get()), loads }).toEqual({ error: expect.any(NotLoaded), loads: 0 })
  hasRoom = true
  await get()
  await get()
  expect(loads).toBe(1)
})

test('a load after the start that fails is repeated with pauses until everything is there', async () => {
  const among: (() => Promise<unknown>)[] = []
  const all = [loaded([], { among }), loaded([failing('EMFILE'), failing('EIO'), failing('ENOMEM')], { among }), loaded([], { among })]
  const [failures, pauses]: [string[], number[]] = [[], []]
  await loadLazy({ among, onFailure: ({ cause }) => failures.push((cause as Error).message), pause: async (round) => pauses.push(round) })
  expect({ failures, pauses }).toEqual({ failures: ['EMFILE', 'EIO', 'ENOMEM'], pauses: [1, 2, 3] })
  expect(await Promise.all(all.map((get) => get()))).toEqual(['loaded', 'loaded', 'loaded'])
})

test.each(['ENOENT', 'ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'])('a start fails if a file of the program is missing: %s', async (code) => {
  const missing = failing(code)
  const among: (() => Promise<unknown>)[] = []
  loaded([missing], { among })
  expect(await errorOf(loadLazy({ among, onFailure: () => undefined, pause: async () => undefined }))).toBe(missing)
})

test('a file that only seems to be missing, without descriptors, does not end the process', async () => {
  const room = [true, false]
  const get = loaded([failing('ERR_MODULE_NOT_FOUND')], { among: [], hasRoom: () => room.shift() ?? true })
  expect(await errorOf(get())).toBeInstanceOf(NotLoaded)
  expect(await get()).toBe('loaded')
})

test('a value that is made once is made again after a failure', async () => {
  let calls = 0
  const get = once(async () => {
    if (++calls === 1) throw new Error('not now')
    return {}
  })
  expect(await errorOf(get())).toMatchObject({ message: 'not now' })
  expect(await get()).toBe(await get())
  expect(calls).toBe(2)
})
