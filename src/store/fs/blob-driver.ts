import { basename, dirname } from 'node:path'
import type { BlobDriver } from '../blobs.ts'
import { realDisk, replaceFile, type Disk } from './disk.ts'

/** Attempts of a write whose folder is removed concurrently, because its last value was removed. */
const MAX_ATTEMPTS = 5

/**
 * Creates an unstorage driver for blobs in a folder, with the file layout of unstorage's fs driver. That driver
 * writes in place and does not sync, so readers and crashes can leave partial values. This driver replaces values
 * atomically, and a value that was set survives a crash. When the last value of a folder is removed, the folder is
 * removed too.
 */
export function createFsBlobDriver(base: string, disk: Disk = realDisk): BlobDriver {
  const split = (key: string): [folder: string, name: string] => {
    const parts = key.split(':')
    if (parts.some((part) => !/^[A-Za-z0-9_-]+$/.test(part))) throw new TypeError(`"${key}" cannot be used as a file name`)
    return [[base, ...parts.slice(0, -1)].join('/'), parts.at(-1)!]
  }
  const pathOf = (key: string) => split(key).join('/')
  const getItemRaw = async (key: string) => (await disk.read(pathOf(key))) ?? null
  const valuesIn = async (folder: string) => (await disk.list(folder)).filter(isValue)

  let baseSynced: Promise<void> | undefined
  /** Creates a folder so that it survives a crash: its parents are synced too. */
  const makeFolders = async (folder: string): Promise<void> => {
    // A folder with a value has been synced before that value was written.
    if ((await valuesIn(folder)).length > 0) return
    await disk.makeFolder(folder)
    await disk.syncFolder(base)
    baseSynced ??= disk.syncFolder(dirname(base)).catch((error: unknown) => {
      baseSynced = undefined
      throw error
    })
    await baseSynced
  }

  const setItemRaw = async (key: string, value: Uint8Array): Promise<void> => {
    const [folder, name] = split(key)
    for (let attempt = 1; ; attempt++) {
      try {
        await makeFolders(folder)
        return await replaceFile(disk, folder, name, [value])
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === MAX_ATTEMPTS) throw error
      }
    }
  }

  const removeItem = async (key: string): Promise<void> => {
    const [folder, name] = split(key)
    await disk.remove(`${folder}/${name}`)
    if (folder === base) return
    const remaining = await disk.list(folder)
    if (remaining.some(isValue)) return
    // Temporary files of interrupted writes. A write that is in progress finds its file missing and starts again.
    for (const temporary of remaining) await disk.remove(`${folder}/${temporary}`)
    await disk.removeFolder(folder)
    // The caller forgets the value once it is removed, so it must not reappear after a crash.
    if ((await disk.list(dirname(base))).includes(basename(base))) await disk.syncFolder(base)
  }

  return {
    name: 'durable-fs',
    options: { base },
    // The folder exists since the first file.
    freeBytes: () => disk.freeBytes(base).catch(() => disk.freeBytes(dirname(base))),
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
