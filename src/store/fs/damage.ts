/** What to do with damaged data. */
export const ADVICE = 'restore the last backup, see "Damaged folders" in src/admin/README.md'

/** The folder is not as a shutdown or a crash leaves it. The message names the file. */
export class StorageDamaged extends Error {
  override readonly name = 'StorageDamaged'
}
