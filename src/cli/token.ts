import type { Command } from 'commander'
import { runAndPrint, operatorCommand, type Common } from './command.ts'

/** `lanekeeper token …`. Creating one is its person's own business, in the web app. */
export function addTokenCommands(program: Command): void {
  const token = program.command('token').description('list and revoke personal access tokens')
  operatorCommand(token, 'list <workspace>', "list the tokens of a workspace's members")
    .option('--user <user>', 'of one person alone')
    .action((workspace: string, { user, ...options }: Common & { user?: string }) =>
      runAndPrint(options, 'token.list', { workspace, user }),
    )
  operatorCommand(token, 'revoke <workspace> <token>', 'revoke a token by its id: its very next request fails').action(
    (workspace: string, id: string, options: Common) => runAndPrint(options, 'token.revoke', { workspace, token: id }),
  )
}
