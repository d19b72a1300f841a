import type { Command } from 'commander'
import type { CommandIo } from '../admin/deps.ts'
import { runOnStorage, type StorageOptions } from './operate.ts'
import { describe } from './text.ts'

/** The options that every operator's command has. */
export type Common = StorageOptions & { readonly json?: boolean }

/** Adds a command of the operator: it answers with a table, or with JSON for a program. */
export function operatorCommand(parent: Command, usage: string, summary: string): Command {
  return parent
    .command(usage)
    .description(summary)
    .option('--storage <address>', 'fs:PATH, redis://…, redis-cluster://…, redis-sentinel://… (or LANEKEEPER_STORAGE)')
    .option('--bytes <address>', 'where bytes of files are, if not beside the records (or LANEKEEPER_BYTES)')
    .option('--json', 'answer as one line of JSON')
}

/** Has a command done that has nothing to send along, and prints what came of it. */
export async function runAndPrint(options: Common, command: string, input: object): Promise<void> {
  const result = await runOnStorage(options, command, input, silent)
  console.log(options.json === true ? JSON.stringify(result) : describe(result))
}

async function* nothing(): AsyncGenerator<string> {}
const silent: CommandIo = { progress: () => undefined, write: async () => undefined, lines: nothing() }
