import type { Command } from 'commander'
import { addAdminCommand, runAndPrint } from './command.ts'

/** Adds `lanekeeper token`. Only the web app creates tokens, for the user that is signed in. */
export function addTokenCommands(program: Command): void {
  const token = program.command('token').description('list and revoke personal access tokens')

  addAdminCommand(token, 'list <workspace>', 'list the tokens of the members of a workspace')
    .option('--user <user>', 'only the tokens of this user')
    .action(runAndPrint('token.list', (workspace: string, { user }: { user?: string }) => ({ workspace, user })))

  addAdminCommand(token, 'revoke <workspace> <token>', 'revoke a token by its id, with immediate effect').action(
    runAndPrint('token.revoke', (workspace: string, id: string) => ({ workspace, token: id })),
  )
}
