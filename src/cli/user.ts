import type { Command } from 'commander'
import { readOrigin } from '../config.ts'
import { runAndPrint, operatorCommand, type Common } from './command.ts'

type WithUrl = Common & { url?: string }

/** `lanekeeper user …` */
export function addUserCommands(program: Command): void {
  const user = program.command('user').description('add, invite and list people')
  withUrl(operatorCommand(user, 'add <name>', 'add a person, and print a one-time link to sign up with'))
    .option('--avatar <url>', 'address of a picture (https)')
    .action((name: string, { avatar, url, ...options }: WithUrl & { avatar?: string }) =>
      runAndPrint(options, 'user.add', { name, avatar, origin: originOf(url) }),
    )
  withUrl(operatorCommand(user, 'invite <user>', 'print a new sign-up link, as for a lost password; the one before ends')).action(
    (id: string, { url, ...options }: WithUrl) => runAndPrint(options, 'user.invite', { user: id, origin: originOf(url) }),
  )
  operatorCommand(user, 'sign-out <user>', 'end all sessions of a person in the web app; tokens go on').action(
    (id: string, options: Common) => runAndPrint(options, 'user.sign-out', { user: id }),
  )
  operatorCommand(user, 'list', 'list all people').action((options: Common) => runAndPrint(options, 'user.list', {}))
}

function withUrl(command: Command): Command {
  return command.option('--url <url>', 'where people find the service (or LANEKEEPER_URL); http://127.0.0.1:3000')
}

function originOf(url: string | undefined): string | undefined {
  return readOrigin({ url }, process.env)
}
