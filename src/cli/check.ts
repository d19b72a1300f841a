import type { Command } from 'commander'
import type { CheckSummary, Finding } from '../admin/check.ts'
import { addAdminCommand, runOnStorage, type CommonOptions } from './command.ts'
import { DamageFound } from './exit.ts'
import { runWithOutput } from './streams.ts'
import { cell, describe } from './text.ts'

type CheckFlags = CommonOptions & { readonly reindex?: boolean; readonly quick?: boolean }

/** Adds `lanekeeper check`. */
export function addCheckCommand(program: Command): void {
  addAdminCommand(program, 'check', 'check all records, the references between them, indexes and the bytes of files')
    .option('--quick', 'do not hash the bytes of files, only check that they are there with their size')
    .option('--reindex', 'repair indexes and lists of records; without this option, nothing is changed')
    .action(check)
}

/** Prints each finding as one line, and then the summary. */
async function check({ reindex = false, quick = false, ...options }: CheckFlags): Promise<void> {
  const summary = await runWithOutput(undefined, ({ write, ...io }) => {
    const writeFinding = (line: string) => write(options.json === true ? line : textOf(JSON.parse(line) as Finding))
    return runOnStorage(options, 'check', { reindex, quick }, { ...io, write: writeFinding }) as Promise<CheckSummary>
  })
  console.log(options.json === true ? JSON.stringify(summary) : describe(summary))
  if (summary.damage > 0) throw new DamageFound(summary.damage)
}

function textOf({ partition, kind, subject, message, repaired }: Finding): string {
  return [repaired ? `repaired ${kind}` : kind, partition, `${cell(subject)}:`, cell(message)].join(' ')
}
