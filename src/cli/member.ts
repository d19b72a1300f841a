import type { Command } from 'commander'
import { addAdminCommand, runAndPrint } from './command.ts'

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
