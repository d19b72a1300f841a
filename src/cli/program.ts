import type { Command } from 'commander'
import { addAdministrationCommands } from './administration.ts'
import { environmentHelp } from './command.ts'
import { addInitCommand } from './init.ts'
import { addMcpCommand } from './mcp.ts'
import { addPolicyCommands } from './policy/commands.ts'
import { createServiceProgram, EXIT_CODES } from './service-program.ts'
import { table } from './text.ts'
import { addTransferCommands } from './transfer.ts'

/** Creates the command line with all commands. */
export function createProgram(): Command {
  const program = createServiceProgram()
  addInitCommand(program)
  addAdministrationCommands(program)
  addTransferCommands(program)
  addPolicyCommands(program)
  addMcpCommand(program)
  addApiCommand(program)
  addCompletionCommand(program)
  return program
}

/** The help of a command line without arguments: all commands, and all settings of the service. */
export function completeHelp(program: Command): string {
  const serve = program.commands.find((command) => command.name() === 'serve')!
  const help = serve.createHelp()
  const options = help.visibleOptions(serve).filter(({ long }) => long !== '--help')
  const rows = options.map((option) => ['', help.optionTerm(option), help.optionDescription(option)])
  return [program.helpInformation().trimEnd(), '', 'Options of serve:', ...table(rows), environmentHelp(), EXIT_CODES].join('\n')
}

/** Adds `lanekeeper api`. What follows is read by the command of the operation, which needs the operations table. */
function addApiCommand(program: Command): void {
  program
    .command('api [arguments...]')
    .usage('OPERATION [options]')
    .description('call an operation of a running service; without an operation, list them')
    .allowUnknownOption()
    .helpOption(false)
    .action(async (args: readonly string[]) => (await import('./api/command.ts')).runApi(args))
}

/** Adds `lanekeeper completion`. */
function addCompletionCommand(program: Command): void {
  program
    .command('completion <shell>')
    .description('print the completion for bash, zsh or fish: source <(lanekeeper completion bash)')
    .action(async (shell: string) => console.log((await import('./completion.ts')).renderCompletion(program, shell)))
}
