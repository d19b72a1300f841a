import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { ConfigError } from '../config.ts'
import type { Flags } from '../settings.ts'
import { addSetting, environmentHelp } from './command.ts'
import { addAuditCommand } from './audit.ts'
import { addBoardCommands } from './board.ts'
import { addCheckCommand } from './check.ts'
import { addInitCommand } from './init.ts'
import { addMcpCommand } from './mcp.ts'
import { addMemberCommands } from './member.ts'
import { addMigrateCommand } from './migrate.ts'
import { addTokenCommands } from './token.ts'
import { addPolicyCommands } from './policy/commands.ts'
import { table } from './text.ts'
import { addTransferCommands } from './transfer.ts'
import { addUserCommands } from './user.ts'
import { addWorkspaceCommands } from './workspace.ts'

const EXIT_CODES = `
Exit codes:
  0  success
  1  internal error
  2  invalid command, option, setting, input, policy or listen address
  3  not found, or already exists; api: refused
  4  storage is in use, unavailable, damaged or of another format; api: the service does not answer
  5  done, without files or workspaces that could not be read
  6  check: damage was found
  7  policy test: the policy does not hold
  8  policy verify-log: a record was altered, removed or moved
  9  policy replay: a record is decided differently
  10 policy diff: the policy allows more, and does not declare it
  11 policy explain: it is denied`

function version(): string {
  return (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version
}

/** Creates the command line. It throws where commander would end the process. */
export function createProgram(): Command {
  // Commands that are added later inherit these settings.
  const program = new Command('lanekeeper')
    .description('A kanban API for agents, in which every access decision is declared, proved and explained.')
    .exitOverride()
    .allowExcessArguments(false)
    .version(version(), '--version', 'print the version')
    .helpOption('-h, --help', 'print the help of a command')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', EXIT_CODES)
  addServeCommand(program)
  addInitCommand(program)
  addWorkspaceCommands(program)
  addUserCommands(program)
  addMemberCommands(program)
  addBoardCommands(program)
  addTokenCommands(program)
  addAuditCommand(program)
  addTransferCommands(program)
  addMigrateCommand(program)
  addCheckCommand(program)
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

/** Adds `lanekeeper serve`, the default command. Only this command loads the service: the others start in half the time without it. */
function addServeCommand(program: Command): void {
  const command = program
    .command('serve', { isDefault: true })
    .description('start the service (the default command, if there is an option)')
    .addHelpText('after', environmentHelp())
  for (const name of [
    'storage',
    'bytes',
    'demo',
    'policies',
    'host',
    'port',
    'origin',
    'metrics',
    'workers',
    'decisionLog',
    'decisionLogSync',
    'decisionLogFull',
    'policyPage',
    'json',
  ] as const)
    addSetting(command, name)
  command.allowExcessArguments().action(async (flags: Flags) => {
    // commander passes an unknown command to the default command, as an argument.
    if (command.args.length > 0) throw new ConfigError(`unknown command "${command.args[0]}"; see --help`)
    const { serve } = await import('./serve.ts')
    return serve(flags)
  })
}
