import type { Disk, OpenFile } from '../../src/store/fs/disk.ts'
import type { Bug } from './crash.ts'

/** Bugs that a driver for files has had somewhere before, planted: each is found, or the search is worth nothing. */
export const crashBugs: Readonly<Record<string, Bug>> = {
  'the journal is not synced': changed(/\.log$/, (file) => ({ ...file, sync: async () => undefined })),
  'a checkpoint is put in place before it is synced': changed(/records\/\./, (file) => ({ ...file, sync: async () => undefined })),
  'success is told before the sync is done': changed(/\.log$/, (file) => ({
    ...file,
    sync: async () => void file.sync().catch(() => undefined),
  })),
  'no folder is synced': (disk) => over(disk, { syncFolder: async () => undefined }),
  'the folder of the journal is not synced': unsyncedFolder(/journal$/),
  'the folder of checkpoints is not synced': unsyncedFolder(/records$/),
  'the folders above are not synced': unsyncedFolder(/data$|var$|^\/$/),
  'the journal is cleared before there is a checkpoint': (disk) =>
    over(disk, {
      rename: async (from, to) => {
        if (to.includes('/records/'))
          for (const name of (await disk.list('/var/data/journal')).slice(0, -1)) await disk.remove(`/var/data/journal/${name}`)
        return disk.rename(from, to)
      },
    }),
  'a checkpoint is written in place': (disk) =>
    over(disk, {
      create: async (path) => disk.create(path.replace(/records\/\.(.*)\.tmp$/, 'records/$1')),
      rename: async (from, to) => (to.includes('/records/') ? undefined : disk.rename(from, to)),
    }),
  'what a killed process wrote is taken for safe': (disk) =>
    over(disk, { rename: async (from, to) => (to.endsWith('.log') ? disk.remove(from) : disk.rename(from, to)) }),
}

/** Bugs in how failures are met. */
export const failureBugs: Readonly<Record<string, Bug>> = {
  'a failed sync is taken for done': changed(/\.log$/, (file) => ({ ...file, sync: () => file.sync().catch(() => undefined) })),
  'a failed sync is tried again': changed(/\.log$/, (file) => ({ ...file, sync: () => file.sync().catch(() => file.sync()) })),
  'a failed sync of a folder is taken for done': (disk) =>
    over(disk, { syncFolder: (path) => disk.syncFolder(path).catch(() => undefined) }),
  'a failed write is taken for done': changed(/\.log$/, (file) => ({
    ...file,
    write: (bytes) => file.write(bytes).catch(() => undefined),
  })),
  'a failed write is not cut off': changed(/\.log$/, (file) => ({ ...file, truncate: async () => undefined })),
  'a file that cannot be read is taken for missing': (disk) => over(disk, { read: (path) => disk.read(path).catch(() => undefined) }),
  'a folder that cannot be read is taken for empty': (disk) => over(disk, { list: (path) => disk.list(path).catch(() => []) }),
}

/** A disk with some of its methods in the place of others. */
function over(disk: Disk, methods: Partial<Disk>): Disk {
  const names = ['append', 'create', 'read', 'rename', 'remove', 'removeFolder', 'makeFolder', 'list', 'syncFolder'] as const
  return { ...(Object.fromEntries(names.map((name) => [name, disk[name].bind(disk)])) as unknown as Disk), ...methods }
}

function changed(paths: RegExp, change: (file: OpenFile) => OpenFile): Bug {
  return (disk) => {
    const open = (how: 'append' | 'create') => async (path: string) => {
      const file = await disk[how](path)
      return paths.test(path) ? change(file) : file
    }
    return over(disk, { append: open('append'), create: open('create') })
  }
}

function unsyncedFolder(paths: RegExp): Bug {
  return (disk) => over(disk, { syncFolder: async (path) => (paths.test(path) ? undefined : disk.syncFolder(path)) })
}
