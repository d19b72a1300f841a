import type { Migration } from './migration.ts'

const LINK = 'belonging:'
const TOMBSTONE = 'trash:'

/** `trs_…` → `tmb_…` */
const newId = (id: unknown): string => String(id).replace(/^trs_/, 'tmb_')

/** Formats 1 of folders, Redis and exports have these records, and formats 2 the new ones. */
export const standardNames: Migration = {
  number: 1,
  summary: 'renames the records "trash" and "belonging" to "tombstone" and "workspace_link"',
  reason: 'the records got standard names',
  migrate(key, value) {
    if (key.startsWith(LINK)) return [[`workspace_link:${key.slice(LINK.length)}`, value]]
    if (key.startsWith(TOMBSTONE)) return [[`tombstone:${newId(key.slice(TOMBSTONE.length))}`, { ...value, id: newId(value['id']) }]]
    return [[key, value]]
  },
}
