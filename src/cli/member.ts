import type { Command } from 'commander'
import { runAndPrint, operatorCommand, type Common } from './command.ts'

type WithRole = Common & { role: string }

/** `lanekeeper member …` */
export function addMemberCommands(program: Command): void {
  const member = program.command('member').description('who belongs to a workspace, and as what')
  operatorCommand(member, 'add <workspace> <user>', 'make a person a member')
    .option('--role <role>', 'owner, admin or member', 'member')
    .action((workspace: string, user: string, { role, ...options }: WithRole) =>
      runAndPrint(options, 'member.add', { workspace, user, role }),
    )
  operatorCommand(member, 'set-role <workspace> <user> <role>', 'give a member another role: owner, admin or member').action(
    (workspace: string, user: string, role: string, options: Common) => runAndPrint(options, 'member.set-role', { workspace, user, role }),
  )
  operatorCommand(
    member,
    'remove <workspace> <user>',
    "end a membership, and with it, at once and for good, that person's tokens, board memberships and assignments",
  ).action((workspace: string, user: string, options: Common) => runAndPrint(options, 'member.remove', { workspace, user }))
  operatorCommand(member, 'list <workspace>', 'list the members of a workspace').action((workspace: string, options: Common) =>
    runAndPrint(options, 'member.list', { workspace }),
  )
}
