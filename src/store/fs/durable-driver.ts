import type { Driver } from 'unstorage'
import { replaceFile, realDisk, type Disk } from './disk.ts'

/**
 * A driver for unstorage in the layout of its own fs driver, which writes in place and never syncs: half of a
 * file can be read there, and a crash leaves half of it. Here a value is replaced whole, and once it is set it
 * survives.
 */
export function durableDriver(base: string, disk: Disk = realDisk): Driver {
  const split = (key: string): [folder: string, name: string] => {
    const parts = key.split(':')
    if (parts.some((part) => !/^[A-Za-z0-9_-]+$/.test(part))) throw new TypeError(`"${key}" is no key for a file`)
    return [[base, ...parts.slice(0, -1)].join('/'), parts.at(-1)!]
  }
  const pathOf = (key: string) => split(key).join('/')
  const getItemRaw = async (key: string) => (await disk.read(pathOf(key))) ?? null
  const setItemRaw = async (key: string, value: Uint8Array): Promise<void> => {
    const [folder, name] = split(key)
    await makeFolders(disk, base, folder)
    await replaceFile(disk, folder, name, [value])
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
    removeItem: (key) => disk.remove(pathOf(key)),
    async getKeys() {
      const folders = await disk.list(base)
      const names = await Promise.all(folders.map((folder) => disk.list(`${base}/${folder}`)))
      return folders.flatMap((folder, i) => names[i]!.map((name) => `${folder}:${name}`)).filter((key) => !key.includes('.'))
    },
  }
}

/** A new folder survives only once the one above it is synced. */
async function makeFolders(disk: Disk, base: string, folder: string): Promise<void> {
  if (folder === base || (await disk.list(base)).includes(folder.slice(base.length + 1))) return
  await disk.makeFolder(folder)
  await disk.syncFolder(base)
}
