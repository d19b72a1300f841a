import type { Command } from 'commander'
import { readOrigin } from '../config.ts'
import { addAdminCommand, addSetting, runAndPrint, noIo, runOnStorage, type CommonOptions } from './command.ts'
import type { createToken } from '../admin/tokens.ts'
import type { TrailEntry } from '../audit/trail.ts'
import { describe, cell } from './text.ts'
import type { CheckSummary, Finding } from '../admin/check.ts'
import { DamageFound } from './exit.ts'
import { runWithOutput } from './streams.ts'

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

interface AuditOptions extends CommonOptions {
  readonly user?: string
  readonly token?: string
  readonly since?: string
  readonly denials?: boolean
  readonly limit: string
}

/** Adds `lanekeeper audit`. */
export function addAuditCommand(program: Command): void {
  addAdminCommand(program, 'audit [workspace]', 'print the audit trail of a workspace, newest first; without one, sign-ins and accounts')
    .option('--user <user>', 'only what concerns this user')
    .option('--token <token>', 'only what was done with this token, or to it')
    .option('--since <time>', 'a date, a time, or how long ago: 2026-11-20, 2026-11-20T12:00Z, -7d, -12h, -30m')
    .option('--denials', 'only what was denied')
    .option('--limit <number>', 'the number of entries', '100')
    .action(async (workspace: string | undefined, { user, token, since, denials = false, limit, ...options }: AuditOptions) => {
      const input = { workspace, user, token, since, denials, limit: Number(limit) }
      const entries = (await runOnStorage(options, 'audit', input, noIo)) as TrailEntry[]
      console.log(options.json === true ? JSON.stringify(entries) : describe(entries.map(rowOf)))
    })
}

function rowOf({ at, user_id, token_id, operation, ids, rows, outcome, status, code, count = 1, address, agent }: TrailEntry): object {
  return {
    time: at,
    user: user_id ?? (operation.startsWith('operator.') ? 'operator' : null),
    token: token_id ?? (operation.startsWith('web.') ? 'web app' : null),
    operation: count === 1 ? operation : `${operation} (${count} times)`,
    ids,
    rows,
    outcome,
    status: code === null ? status : `${status} ${code}`,
    address,
    agent,
  }
}

type CheckFlags = CommonOptions & { readonly reindex?: boolean; readonly quick?: boolean }

/** Adds `lanekeeper check`. */
export function addCheckCommand(program: Command): void {
  addAdminCommand(program, 'check', 'check all records, the references between them, indexes and the bytes of files')
    .option('--quick', 'do not hash the bytes of files, only check that they are there with their size')
    .option('--reindex', 'repair indexes and lists of records; without this option, nothing is changed')
    .action(check)
}

/** Prints each finding as one line, and then the summary. */
async function check({ reindex = false, quick = false, ...options }: CheckFlags): Promise<void> {
  const summary = await runWithOutput(undefined, ({ write, ...io }) => {
    const writeFinding = (line: string) => write(options.json === true ? line : findingText(JSON.parse(line) as Finding))
    return runOnStorage(options, 'check', { reindex, quick }, { ...io, write: writeFinding }) as Promise<CheckSummary>
  })
  console.log(options.json === true ? JSON.stringify(summary) : describe(summary))
  if (summary.damage > 0) throw new DamageFound(summary.damage)
}

function findingText({ partition, kind, subject, message, repaired }: Finding): string {
  return [repaired ? `repaired ${kind}` : kind, partition, `${cell(subject)}:`, cell(message)].join(' ')
}
