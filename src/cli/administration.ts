import type { Command } from 'commander'
import { readOrigin } from '../config.ts'
import { addAdminCommand, addSetting, runAndPrint } from './command.ts'

// The administration commands that print their result and nothing else.

/** Adds `lanekeeper workspace`. */
export function addWorkspaceCommands(program: Command): void {
  const workspace = program.command('workspace').description('create and list workspaces')

  addAdminCommand(workspace, 'create <name>', 'create an empty workspace').action(
    runAndPrint('workspace.create', (name: string) => ({ name })),
  )

  addAdminCommand(workspace, 'list', 'list all workspaces').action(runAndPrint('workspace.list', () => ({})))
}

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

/** Adds `lanekeeper member`. */
export function addMemberCommands(program: Command): void {
  const member = program.command('member').description('manage the members of a workspace')

  addAdminCommand(member, 'add <workspace> <user>', 'make a user a member of a workspace')
    .option('--role <role>', 'owner, admin or member', 'member')
    .action(runAndPrint('member.add', (workspace: string, user: string, { role }: { role: string }) => ({ workspace, user, role })))

  addAdminCommand(member, 'set-role <workspace> <user> <role>', 'change the role of a member to owner, admin or member').action(
    runAndPrint('member.set-role', (workspace: string, user: string, role: string) => ({ workspace, user, role })),
  )

  addAdminCommand(
    member,
    'remove <workspace> <user>',
    'end a membership, and permanently revoke its tokens and remove its board memberships and assignments',
  ).action(runAndPrint('member.remove', (workspace: string, user: string) => ({ workspace, user })))

  addAdminCommand(member, 'list <workspace>', 'list the members of a workspace').action(
    runAndPrint('member.list', (workspace: string) => ({ workspace })),
  )
}

/** Adds `lanekeeper board`. */
export function addBoardCommands(program: Command): void {
  const board = program.command('board').description('manage boards')

  addAdminCommand(
    board,
    'transfer <workspace> <board> <user>',
    'make a member the creator of a board, for example after its creator has left',
  ).action(runAndPrint('board.transfer', (workspace: string, boardId: string, user: string) => ({ workspace, board: boardId, user })))
}

/** Adds `lanekeeper migrate`. */
export function addMigrateCommand(program: Command): void {
  addAdminCommand(
    program,
    'migrate',
    'bring the records of a Redis to the version that this version of Lanekeeper needs; those of a folder are migrated at start',
  ).action(runAndPrint('migrate', () => ({})))
}
