import type { Command } from 'commander'
import { readOrigin } from '../config.ts'
import { addAdminCommand, addSetting, runAndPrint } from './command.ts'

/** Adds `lanekeeper user`. */
export function addUserCommands(program: Command): void {
  const user = program.command('user').description('add, invite, sign out, disable and list users, and reset their second factor')

  addSetting(addAdminCommand(user, 'add <name>', 'add a user and print a one-time sign-up link for them'), 'origin')
    .option('--avatar <url>', 'the https:// URL of a picture')
    .action(
      runAndPrint('user.add', (name: string, { avatar, url }: { avatar?: string; url?: string }) => ({
        name,
        avatar,
        origin: readOrigin({ url }, process.env),
      })),
    )

  addSetting(
    addAdminCommand(user, 'invite <user>', 'print a new sign-up link, for example after a lost password; earlier links become invalid'),
    'origin',
  ).action(runAndPrint('user.invite', (id: string, { url }: { url?: string }) => ({ user: id, origin: readOrigin({ url }, process.env) })))

  addAdminCommand(user, 'sign-out <user>', 'end all web app sessions of a user; their tokens stay valid').action(
    runAndPrint('user.sign-out', (id: string) => ({ user: id })),
  )

  addAdminCommand(
    user,
    'reset-second-factor <user>',
    'remove the authenticator app, recovery codes and passkeys of a user who lost them, and end their sessions',
  ).action(runAndPrint('user.reset-second-factor', (id: string) => ({ user: id })))

  addAdminCommand(
    user,
    'disable <user>',
    'end all sessions and memberships of a user, revoke their tokens, and remove their e-mail address, password and second factor',
  ).action(runAndPrint('user.disable', (id: string) => ({ user: id })))

  addAdminCommand(user, 'list', 'list all users').action(runAndPrint('user.list', () => ({})))
}
