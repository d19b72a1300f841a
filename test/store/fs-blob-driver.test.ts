import { beforeEach, describe, expect, test } from 'vitest'
import type { Driver } from 'unstorage'
import { createFsBlobDriver } from '../../src/store/fs/blob-driver.ts'
import { FaultyDisk } from '../support/faulty-disk.ts'
import { diskError, recordDisk, type RecordingDisk } from '../support/recording-disk.ts'

const BASE = '/var/data/bytes'
const bytes = (text: string) => Buffer.from(text)

describe('the driver of blobs in a folder', () => {
  let disk: FaultyDisk
  let recording: RecordingDisk
  let driver: Driver
  /** is called before each operation of the disk */
  let before: (operation: string) => unknown
  const set = (key: string, text: string) => driver.setItemRaw!(key, bytes(text), {})
  const remove = (key: string) => driver.removeItem!(key, {})
  /** The operations since the last call, without those that write the value itself. */
  const operations = () => recording.operations.splice(0).filter((one) => !/^(create|write|sync|close|rename) .*\.tmp/.test(one))
  beforeEach(async () => {
    disk = new FaultyDisk(1)
    await disk.makeFolder('/var/data')
    before = () => undefined
    recording = recordDisk(disk, (operation) => before(operation))
    driver = createFsBlobDriver(BASE, recording)
  })

  test('has a name, and the folder as its option', () => {
    expect({ name: driver.name, options: driver.options }).toEqual({ name: 'durable-fs', options: { base: BASE } })
  })

  test('a value is stored in the file that its key names, and can be read', async () => {
    await set('b1:0', 'é')
    await driver.setItem!('b1:x_Y-9', 'text', {})
    expect(await disk.read(`${BASE}/b1/0`)).toEqual(bytes('é'))
    expect(await driver.getItemRaw!('b1:0', {})).toEqual(bytes('é'))
    expect([await driver.getItem('b1:0', {}), await driver.getItem('b1:x_Y-9', {})]).toEqual(['é', 'text'])
    expect([await driver.hasItem('b1:0', {}), await driver.hasItem('b1:1', {}), await driver.hasItem('b2:0', {})]).toEqual([
      true,
      false,
      false,
    ])
    expect({ raw: await driver.getItemRaw!('b1:1', {}), item: await driver.getItem('b2:0', {}) }).toEqual({ raw: null, item: null })
  })

  test('a key may have one part or several', async () => {
    await set('single', 'a')
    await set('x:y:z', 'b')
    expect([(await disk.read(`${BASE}/single`))?.toString(), (await disk.read(`${BASE}/x/y/z`))?.toString()]).toEqual(['a', 'b'])
    expect(await driver.getItem('x:y:z', {})).toBe('b')
  })

  test.each(['../x:0', 'b1:..', 'b1:', ':0', 'b1:a/b', 'b1:.0.tmp', '', 'b1:é', 'b1:a b', ' b1:0', 'b1:0\n'])(
    'the key "%s" is refused, because it cannot be a file name',
    async (key) => {
      const refusal = new TypeError(`"${key}" cannot be used as a file name`)
      await expect(set(key, 'x')).rejects.toEqual(refusal)
      await expect(driver.getItemRaw!(key, {})).rejects.toEqual(refusal)
      await expect(remove(key)).rejects.toEqual(refusal)
      await expect(driver.hasItem(key, {})).rejects.toEqual(refusal)
      expect(recording.operations).toEqual([])
    },
  )

  test('the keys of all values are listed, without temporary files', async () => {
    for (const key of ['b2:0', 'b1:1', 'b1:0']) await set(key, 'x')
    await disk.create(`${BASE}/b1/.2.tmp`)
    expect(await driver.getKeys('', {})).toEqual(['b1:0', 'b1:1', 'b2:0'])
  })

  const fail = (failed: string, code: string) => {
    before = (operation) => {
      if (operation === failed) throw diskError(code)
    }
  }

  describe('writing a value', () => {
    /** Removes the folder of the value before it is written, as a concurrent removal does. */
    const removeFolder = (times: number) => {
      let removals = 0
      before = async (operation) => {
        if (operation.startsWith('create') && removals++ < times) await disk.removeFolder(`${BASE}/b1`)
      }
    }

    test('is repeated up to 5 times if its folder is removed', async () => {
      removeFolder(4)
      await set('b1:0', 'x')
      expect((await disk.read(`${BASE}/b1/0`))?.toString()).toBe('x')
      expect(recording.operations.filter((one) => one.startsWith('create'))).toHaveLength(5)
    })

    test('fails if its folder is removed 5 times', async () => {
      removeFolder(5)
      await expect(set('b1:0', 'x')).rejects.toMatchObject({ code: 'ENOENT' })
      expect(recording.operations.filter((one) => one.startsWith('create'))).toHaveLength(5)
    })

    test('is not repeated after another failure', async () => {
      before = (operation) => {
        if (operation.startsWith('create')) throw diskError('ENOSPC')
      }
      await expect(set('b1:0', 'x')).rejects.toMatchObject({ code: 'ENOSPC' })
      expect(recording.operations.filter((one) => one.startsWith('create'))).toHaveLength(1)
    })
  })

  describe('removing a value', () => {
    test.each([`remove ${BASE}/b1/0`, `list ${BASE}/b1`, `remove ${BASE}/b1/.1.tmp`, `removeFolder ${BASE}/b1`, `syncFolder ${BASE}`])(
      'fails if "%s" fails',
      async (operation) => {
        await set('b1:0', 'x')
        await disk.create(`${BASE}/b1/.1.tmp`)
        fail(operation, 'EIO')
        await expect(remove('b1:0')).rejects.toMatchObject({ code: 'EIO' })
      },
    )

    test('leaves other values in its folder, and does nothing else', async () => {
      await set('b1:0', 'x')
      await set('b1:1', 'y')
      // The temporary file of a write that is in progress.
      await disk.create(`${BASE}/b1/.2.tmp`)
      operations()
      await remove('b1:0')
      expect(operations()).toEqual([`remove ${BASE}/b1/0`, `list ${BASE}/b1`])
      expect(await driver.getKeys('', {})).toEqual(['b1:1'])
    })

    test('removes the folder and its temporary files with the last value, and syncs the removal', async () => {
      await set('b1:0', 'x')
      await disk.create(`${BASE}/b1/.1.tmp`)
      operations()
      await remove('b1:0')
      expect(operations()).toEqual([
        `remove ${BASE}/b1/0`,
        `list ${BASE}/b1`,
        `remove ${BASE}/b1/.1.tmp`,
        `removeFolder ${BASE}/b1`,
        'list /var/data',
        `syncFolder ${BASE}`,
      ])
      expect(await disk.list(BASE)).toEqual([])
    })

    test('leaves the folder of all values if the key has one part', async () => {
      await set('single', 'x')
      operations()
      await remove('single')
      expect(operations()).toEqual([`remove ${BASE}/single`])
      expect(await disk.list('/var/data')).toEqual(['bytes'])
    })

    test('succeeds for an absent value, also if no value was ever stored', async () => {
      await remove('b1:0')
      expect(operations()).not.toContain(`syncFolder ${BASE}`)
      await set('b2:0', 'x')
      await remove('b1:0')
      expect(await driver.getKeys('', {})).toEqual(['b2:0'])
    })
  })
})
