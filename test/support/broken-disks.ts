import type { Disk, OpenFile } from '../../src/store/fs/disk.ts'
import type { Bug } from './crash.ts'
import type { Operation } from './faulty-disk.ts'

/** Seeded bugs in the durability of a file driver, as found in real systems. The search must find each of them. */
export const crashBugs: Readonly<Record<string, Bug>> = {
  'the journal is not synced': wrapFiles(/\.log$/, (file) => ({ ...file, sync: async () => undefined })),
  'a checkpoint is renamed before it is synced': wrapFiles(/records\/\./, (file) => ({ ...file, sync: async () => undefined })),
  'a commit is acknowledged before its sync has finished': wrapFiles(/\.log$/, (file) => ({
    ...file,
    sync: async () => void syncSlowly(file).catch(() => undefined),
  })),
  'no folder is synced': (disk) => override(disk, { syncFolder: async () => undefined }),
  'the folder of the journal is not synced': unsyncedFolder(/journal$/),
  'the folder of checkpoints is not synced': unsyncedFolder(/records$/),
  'the parent folders are not synced': unsyncedFolder(/data$|var$|^\/$/),
  'the journal is removed before its checkpoint is written': (disk) =>
    override(disk, {
      rename: async (from, to) => {
        if (to.includes('/records/'))
          for (const name of (await disk.list('/var/data/journal')).slice(0, -1)) await disk.remove(`/var/data/journal/${name}`)
        return disk.rename(from, to)
      },
    }),
  'a checkpoint is written in place': (disk) =>
    override(disk, {
      create: async (path) => disk.create(path.replace(/records\/\.(.*)\.tmp$/, 'records/$1')),
      rename: async (from, to) => (to.includes('/records/') ? undefined : disk.rename(from, to)),
    }),
  'the mark of a clean shutdown remains when the folder is opened': wrapFiles(/manifest\.json$/, (file) => ({
    ...file,
    truncate: async () => undefined,
  })),
  'the removal of the mark of a clean shutdown is not synced': wrapFiles(/\/manifest\.json$/, (file) => ({
    ...file,
    sync: async () => undefined,
  })),
  'the manifest is renamed before it is synced': wrapFiles(/\/\.manifest\.json\.tmp$/, (file) => ({
    ...file,
    sync: async () => undefined,
  })),
  'unsynced data of a killed process is treated as durable': (disk) =>
    override(disk, { rename: async (from, to) => (to.endsWith('.log') ? disk.remove(from) : disk.rename(from, to)) }),
}

/** Seeded bugs in the handling of disk failures, by the operation whose failure they mishandle. The search must find each of them. */
export const failureBugs: Readonly<Record<string, { readonly only: Operation; readonly bug: Bug }>> = {
  'a failed sync is ignored': {
    only: 'sync',
    bug: wrapFiles(/\.log$/, (file) => ({ ...file, sync: () => file.sync().catch(() => undefined) })),
  },
  'a failed sync is retried': {
    only: 'sync',
    bug: wrapFiles(/\.log$/, (file) => ({ ...file, sync: () => file.sync().catch(() => file.sync()) })),
  },
  'a failed sync of a folder is ignored': {
    only: 'syncFolder',
    bug: (disk) => override(disk, { syncFolder: (path) => disk.syncFolder(path).catch(() => undefined) }),
  },
  'a failed write is ignored': {
    only: 'write',
    bug: wrapFiles(/\.log$/, (file) => ({ ...file, write: (bytes) => file.write(bytes).catch(() => undefined) })),
  },
  'a partial write is not truncated': { only: 'write', bug: wrapFiles(/\.log$/, (file) => ({ ...file, truncate: async () => undefined })) },
  'an unreadable file is treated as missing': {
    only: 'read',
    bug: (disk) => override(disk, { read: (path) => disk.read(path).catch(() => undefined) }),
  },
  'an unreadable folder is treated as empty': {
    only: 'list',
    bug: (disk) => override(disk, { list: (path) => disk.list(path).catch(() => []) }),
  },
}

function override(disk: Disk, methods: Partial<Disk>): Disk {
  const names = ['append', 'create', 'read', 'readParts', 'rename', 'remove', 'removeFolder', 'makeFolder', 'list', 'syncFolder'] as const
  return { ...(Object.fromEntries(names.map((name) => [name, disk[name].bind(disk)])) as unknown as Disk), ...methods }
}

/** Takes longer than the operations after it. */
async function syncSlowly(file: OpenFile): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await undefined
  await file.sync()
}

/** Wraps the opened files whose paths match. */
function wrapFiles(paths: RegExp, wrap: (file: OpenFile) => OpenFile): Bug {
  return (disk) => {
    const open = (method: 'append' | 'create') => async (path: string) => {
      const file = await disk[method](path)
      return paths.test(path) ? wrap(file) : file
    }
    return override(disk, { append: open('append'), create: open('create') })
  }
}

function unsyncedFolder(paths: RegExp): Bug {
  return (disk) => override(disk, { syncFolder: async (path) => (paths.test(path) ? undefined : disk.syncFolder(path)) })
}
