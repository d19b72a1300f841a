import { Command } from 'commander'
import { addMemberCommands } from './member.ts'
import { addServeCommand } from './serve.ts'
import { addTokenCommands } from './token.ts'
import { addTransferCommands } from './transfer.ts'
import { addUserCommands } from './user.ts'
import { addWorkspaceCommands } from './workspace.ts'

/** The command line. It throws where commander would end the process. */
export function createProgram(): Command {
  // What is set here is inherited by the commands that are added afterwards.
  const program = new Command('lanekeeper')
    .description('A kanban API for agents, in which every access decision is declared, proved and explained.')
    .exitOverride()
    .allowExcessArguments(false)
  addServeCommand(program)
  addWorkspaceCommands(program)
  addUserCommands(program)
  addMemberCommands(program)
  addTokenCommands(program)
  addTransferCommands(program)
  return program
}
