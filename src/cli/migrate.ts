import type { Command } from 'commander'
import { addAdminCommand, runAndPrint } from './command.ts'

/** Adds `lanekeeper migrate`. */
export function addMigrateCommand(program: Command): void {
  addAdminCommand(
    program,
    'migrate',
    'bring the records of a Redis to the version that this version of Lanekeeper needs; those of a folder are migrated at start',
  ).action(runAndPrint('migrate', () => ({})))
}
