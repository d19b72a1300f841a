import { describe, expect, test } from 'vitest'
import { checkFolder, createFolder, UnusableFolder } from '../../src/store/fs/folder.ts'
import { FaultyDisk } from '../support/faulty-disk.ts'
import { diskError, recordDisk } from '../support/recording-disk.ts'

const PATH = '/var/data'
/** A disk with these files in the folder. A folder is a name that ends with "/". */
async function diskWith(files: Readonly<Record<string, string>>): Promise<FaultyDisk> {
  const disk = new FaultyDisk(1)
  await disk.makeFolder(PATH)
  for (const [name, content] of Object.entries(files)) {
    if (name.endsWith('/')) await disk.makeFolder(`${PATH}/${name.slice(0, -1)}`)
    else await (await disk.create(`${PATH}/${name}`)).write(Buffer.from(content))
  }
  return disk
}
const check = (disk: FaultyDisk) => checkFolder(PATH, disk).catch((error: unknown) => error)
const other = (format: number) =>
  `has format ${format}, and this version of Lanekeeper reads format 3: use the version of Lanekeeper that wrote it, or another folder`
const refusal = (message: string) => expect.objectContaining({ name: 'UnusableFolder', message: `${PATH} ${message}` })

describe('the check of a folder', () => {
  test('a folder that is missing, empty or was left by the crash of a first start has not been used', async () => {
    expect(await check(new FaultyDisk(1))).toBe(false)
    expect(await check(await diskWith({}))).toBe(false)
    const left = {
      'journal/': '',
      'records/': '',
      'bytes/': '',
      'run/': '',
      'manifest.json': '',
      '.manifest.json.tmp': '',
      '.format.json.tmp': '{"la',
    }
    for (const name of Object.keys(left)) expect([name, await check(await diskWith({ [name]: '' }))]).toEqual([name, false])
    expect(await check(await diskWith(left))).toBe(false)
  })

  test('a folder with our format has been used', async () => {
    expect(await check(await diskWith({ 'format.json': '{"lanekeeper":3}\n', 'notes.txt': 'mine' }))).toBe(true)
  })

  test('a folder with other files is refused, and the message names three of them', async () => {
    expect(await check(await diskWith({ 'run/': '', a: '' }))).toEqual(refusal('is not empty and contains no Lanekeeper data: a'))
    const error = await check(await diskWith({ a: '', b: '', c: '', d: '' }))
    expect(error).toEqual(refusal('is not empty and contains no Lanekeeper data: a, b, c'))
    expect(error).toBeInstanceOf(UnusableFolder)
  })

  test.each([
    ['{"lanekeeper":2}\n', other(2)],
    ['{"lanekeeper":33}\n', other(33)],
    ['{"lanekeeper":3}', 'has an unreadable format.json'],
    ['{"lanekeeper":3}\n\n', 'has an unreadable format.json'],
    [' {"lanekeeper":3}\n', 'has an unreadable format.json'],
    ['', 'has an unreadable format.json'],
  ])('a folder whose format.json is %j is refused', async (content, message) => {
    expect(await check(await diskWith({ 'format.json': content }))).toEqual(refusal(message))
  })

  test('a folder that another process creates during the check has been used', async () => {
    const disk = await diskWith({})
    const racing = recordDisk(disk, async (operation) => {
      if (operation === `list ${PATH}`) await createFolder(disk, PATH)
    })
    expect(await checkFolder(PATH, racing)).toBe(true)
  })
})

describe('the creation of a folder', () => {
  const failing = (code: string, folder = '/') =>
    recordDisk(new FaultyDisk(1), (operation) => {
      if (operation === `syncFolder ${folder}`) throw code === '' ? new Error('without a code') : diskError(code)
    })

  test.each(['EACCES', 'EPERM', 'EINVAL', 'EROFS'])('a parent that cannot be accessed (%s) is ignored', async (code) => {
    const disk = failing(code)
    await createFolder(disk, PATH)
    expect(await checkFolder(PATH, disk)).toBe(true)
  })

  test('the folder itself must be synced, for whatever reason that fails', async () => {
    const disk = failing('EACCES', PATH)
    await expect(createFolder(disk, PATH)).rejects.toMatchObject({ code: 'EACCES' })
    expect(disk.operations.at(-1)).toBe(`syncFolder ${PATH}`)
  })

  test.each(['EIO', ''])('a parent that cannot be synced for another reason (%s) is an error', async (code) => {
    const disk = failing(code)
    await expect(createFolder(disk, PATH)).rejects.toThrow(code === '' ? 'without a code' : 'EIO')
    expect(await disk.read(`${PATH}/format.json`)).toBeUndefined()
  })
})
