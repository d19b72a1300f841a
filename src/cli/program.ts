import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { addMemberCommands } from './member.ts'
import { addServeCommand } from './serve.ts'
import { addTokenCommands } from './token.ts'
import { addTransferCommands } from './transfer.ts'
import { addUserCommands } from './user.ts'
import { addWorkspaceCommands } from './workspace.ts'

const EXITS = `
Exit codes: 0 done, 1 our own fault, 2 a wrong command, option, setting or input,
3 what was named is not there or there already, 4 storage is in use, out of reach or damaged.`

function version(): string {
  return (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version
}

/** The command line. It throws where commander would end the process. */
export function createProgram(): Command {
  // What is set here is inherited by the commands that are added afterwards.
  const program = new Command('lanekeeper')
    .description('A kanban API for agents, in which every access decision is declared, proved and explained.')
    .exitOverride()
    .allowExcessArguments(false)
    .version(version(), '--version', 'print the version')
    .addHelpText('after', EXITS)
  addServeCommand(program)
  addWorkspaceCommands(program)
  addUserCommands(program)
  addMemberCommands(program)
  addTokenCommands(program)
  addTransferCommands(program)
  return program
}
