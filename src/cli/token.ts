import type { Command } from 'commander'
import type { createToken } from '../admin/tokens.ts'
import { addAdminCommand, noIo, runAndPrint, runOnStorage, type CommonOptions } from './command.ts'

interface CreateOptions extends CommonOptions {
  readonly scope: string
  readonly name: string
  readonly days?: string
}

/** Adds `lanekeeper token`. */
export function addTokenCommands(program: Command): void {
  const token = program.command('token').description('create, list and revoke personal access tokens')

  addAdminCommand(token, 'create <workspace> <user>', 'create a token for a machine without a browser, and print it once on stdout')
    .requiredOption('--scope <scope>', 'read or write; a token with kanban:admin is created by its person in the web app')
    .requiredOption('--name <name>', 'what the token is for, so that its person recognizes it in the list')
    .option('--days <number>', 'the lifetime, up to 90 days (default: 30, or less if the workspace says so)')
    .action(create)

  addAdminCommand(token, 'list <workspace>', 'list the tokens of the members of a workspace')
    .option('--user <user>', 'only the tokens of this user')
    .action(runAndPrint('token.list', (workspace: string, { user }: { user?: string }) => ({ workspace, user })))

  addAdminCommand(token, 'revoke <workspace> <token>', 'revoke a token by its id, with immediate effect').action(
    runAndPrint('token.revoke', (workspace: string, id: string) => ({ workspace, token: id })),
  )
}

/** Stdout has nothing but the token, so that a script can store it. */
async function create(workspace: string, user: string, { scope, name, days, ...options }: CreateOptions): Promise<void> {
  const io = { ...noIo, progress: (text: string) => console.error(text) }
  const result = await runOnStorage(options, 'token.create', { workspace, user, scope, name, days }, io)
  const created = result as Awaited<ReturnType<typeof createToken>>
  if (options.json === true) return console.log(JSON.stringify(created))
  const { id, scopes, expires_at } = created
  console.error(`created ${id} with ${scopes.join(' ')} for ${user}, until ${expires_at}; the token is shown only now:`)
  console.log(created.token)
}
