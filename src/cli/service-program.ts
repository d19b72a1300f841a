import { Command } from 'commander'
import { ConfigError, settingNames, settingSource } from '../config.ts'
import { programVersion } from '../model/package-files.ts'
import type { Flags } from '../settings.ts'
import { addSetting, environmentHelp } from './command.ts'

export const EXIT_CODES = `
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

/**
 * Whether a command line starts the service. Then it needs no other command: their code would be a twentieth of a start.
 * @param args the command line without the program; an option at its beginning belongs to the default command
 */
export function startsService([first = '']: readonly string[]): boolean {
  return first === 'serve' || (/^--?[a-z]/.test(first) && !['-h', '--help', '--version'].includes(first))
}

/** Creates a command line with the default command alone, `serve`. It throws where commander would end the process. */
export function createServiceProgram(): Command {
  // Commands that are added later inherit these settings.
  const program = new Command('lanekeeper')
    .description('A kanban API for agents. Every access decision is declared, proved and explained.')
    .exitOverride()
    .allowExcessArguments(false)
    .version(programVersion, '--version', 'print the version')
    .helpOption('-h, --help', 'print the help of a command')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', EXIT_CODES)
  addServeCommand(program)
  return program
}

/** Adds `lanekeeper serve`. Only this command loads the service: the others start in half the time without it. */
function addServeCommand(program: Command): void {
  const command = program
    .command('serve', { isDefault: true })
    .description('start the service (the default command, if there is an option)')
    .addHelpText('after', environmentHelp())
  for (const name of settingNames) if (settingSource(name).flag !== undefined) addSetting(command, name)
  command.allowExcessArguments().action(async (flags: Flags) => {
    // commander passes an unknown command to the default command, as an argument.
    if (command.args.length > 0) throw new ConfigError(`unknown command "${command.args[0]}"; see --help`)
    const { serve } = await import('./serve.ts')
    return serve(flags)
  })
}
