import { basename, dirname } from 'node:path'
import type { Driver } from 'unstorage'
import { realDisk, replaceFile, type Disk } from './disk.ts'

/** So often a write begins again whose folder somebody else just found empty and removed. */
const ATTEMPTS = 5

/**
 * A driver for unstorage in the layout of its own fs driver, which writes in place and never syncs: half of a
 * file can be read there, and a crash leaves half of it. Here a value is replaced whole, and once it is set it
 * survives. The folder of the last value goes with it.
 */
export function durableDriver(base: string, disk: Disk = realDisk): Driver {
  const split = (key: string): [folder: string, name: string] => {
    const parts = key.split(':')
    if (parts.some((part) => !/^[A-Za-z0-9_-]+$/.test(part))) throw new TypeError(`"${key}" is no key for a file`)
    return [[base, ...parts.slice(0, -1)].join('/'), parts.at(-1)!]
  }
  const pathOf = (key: string) => split(key).join('/')
  const getItemRaw = async (key: string) => (await disk.read(pathOf(key))) ?? null
  const valuesIn = async (folder: string) => (await disk.list(folder)).filter(isValue)

  let rooted: Promise<void> | undefined
  /** A folder survives only once the one above it is synced. */
  const makeFolders = async (folder: string): Promise<void> => {
    // One that has a value was made sure of before that.
    if ((await valuesIn(folder)).length > 0) return
    await disk.makeFolder(folder)
    await disk.syncFolder(base)
    rooted ??= disk.syncFolder(dirname(base)).catch((error: unknown) => {
      rooted = undefined
      throw error
    })
    await rooted
  }

  const setItemRaw = async (key: string, value: Uint8Array): Promise<void> => {
    const [folder, name] = split(key)
    for (let attempt = 1; ; attempt++) {
      try {
        await makeFolders(folder)
        return await replaceFile(disk, folder, name, [value])
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === ATTEMPTS) throw error
      }
    }
  }

  const removeItem = async (key: string): Promise<void> => {
    const [folder, name] = split(key)
    await disk.remove(`${folder}/${name}`)
    if (folder === base) return
    const left = await disk.list(folder)
    if (left.some(isValue)) return
    // What a write left that was broken off. One that is going on finds it gone, and begins again.
    for (const temporary of left) await disk.remove(`${folder}/${temporary}`)
    await disk.removeFolder(folder)
    // Whoever is told that it is gone forgets it: it must not come back.
    if ((await disk.list(dirname(base))).includes(basename(base))) await disk.syncFolder(base)
  }

  return {
    name: 'durable-fs',
    options: { base },
    hasItem: async (key) => {
      const [folder, name] = split(key)
      return (await disk.list(folder)).includes(name)
    },
    getItem: async (key) => (await getItemRaw(key))?.toString() ?? null,
    getItemRaw,
    setItem: (key, value) => setItemRaw(key, Buffer.from(value)),
    setItemRaw,
    removeItem,
    async getKeys() {
      const folders = await disk.list(base)
      const names = await Promise.all(folders.map((folder) => disk.list(`${base}/${folder}`)))
      return folders.flatMap((folder, i) => names[i]!.map((name) => `${folder}:${name}`)).filter((key) => !key.includes('.'))
    },
  }
}

const isValue = (name: string) => !name.startsWith('.')
