import type { Command } from 'commander'
import { readUrl } from '../config.ts'
import { addAdminCommand, addSetting, noIo, runOnStorage, type CommonOptions } from './command.ts'
import type { createToken } from '../admin/tokens.ts'
import type { TrailEntry } from '../audit/trail.ts'
import { describe, cell, counted } from './text.ts'
import type { CheckSummary, Finding } from '../admin/check.ts'
import { Failure } from './exit.ts'
import { runWithOutput } from './streams.ts'

/** The option of a command: its flags, its description and its default. */
type OptionRow = readonly [flags: string, description: string, value?: string]

/** A command that prints its result and nothing else. `origin`: it has the option of this setting. */
type Row = readonly [usage: string, summary: string, ...options: readonly (OptionRow | 'url')[]]

/** These commands by their first word. Their input is their arguments and options, by their names. */
const groups: Readonly<Record<string, { readonly description: string; readonly rows: readonly Row[] }>> = {
  workspace: {
    description: 'create and list workspaces',
    rows: [
      ['create <name>', 'create an empty workspace'],
      ['list', 'list all workspaces'],
    ],
  },
  user: {
    description: 'add, invite, show, sign out, disable and list users, and reset how they sign in',
    rows: [
      [
        'add <name>',
        'add a user and print a one-time sign-up link for them',
        'url',
        ['--avatar <url>', 'the https:// URL of a picture'],
        ['--email <address>', 'the e-mail address that the form suggests, or that they have at the identity provider'],
      ],
      [
        'invite <user>',
        'print a new sign-up link, for example after a lost password; earlier links become invalid',
        'url',
        ['--email <address>', 'the e-mail address that the form suggests, or that they have at the identity provider'],
      ],
      ['show <user>', 'show how a user signs in'],
      ['unbind <user>', 'unbind a user from their identity at the identity provider, and end their sessions'],
      ['sign-out <user>', 'end all web app sessions of a user; their tokens stay valid'],
      [
        'reset-second-factor <user>',
        'remove the authenticator app, recovery codes and passkeys of a user who lost them, and end their sessions',
      ],
      [
        'disable <user>',
        'end all sessions and memberships of a user, revoke their tokens, and remove their e-mail address, password and second factor',
      ],
      ['list', 'list all users'],
    ],
  },
  member: {
    description: 'manage the members of a workspace',
    rows: [
      ['add <workspace> <user>', 'make a user a member of a workspace', ['--role <role>', 'owner, admin or member', 'member']],
      ['set-role <workspace> <user> <role>', 'change the role of a member to owner, admin or member'],
      ['remove <workspace> <user>', 'end a membership, and permanently revoke its tokens and remove its board memberships and assignments'],
      ['list <workspace>', 'list the members of a workspace'],
    ],
  },
  board: {
    description: 'manage boards',
    rows: [['transfer <workspace> <board> <user>', 'make a member the creator of a board, for example after its creator has left']],
  },
  token: {
    description: 'create, list and revoke personal access tokens',
    rows: [
      ['list <workspace>', 'list the tokens of the members of a workspace', ['--user <user>', 'only the tokens of this user']],
      ['revoke <workspace> <token>', 'revoke a token by its id, with immediate effect'],
    ],
  },
  webhooks: {
    description: 'enable the webhooks of a restored storage',
    rows: [
      [
        'enable [workspace]',
        'enable the webhooks that a restore has disabled, of one workspace or of all; they go on where the backup was',
        ['--dry-run', 'only list them'],
      ],
    ],
  },
}

const audit: Row = [
  'audit [workspace]',
  'print the audit trail of a workspace, newest first; without one, sign-ins and accounts',
  ['--user <user>', 'only what concerns this user'],
  ['--token <token>', 'only what was done with this token, or to it'],
  ['--since <time>', 'a date, a time, or how long ago: 2026-11-20, 2026-11-20T12:00Z, -7d, -12h, -30m'],
  ['--denials', 'only what was denied'],
  ['--limit <number>', 'the number of entries', '100'],
]

/** Adds the administration commands that print their result. */
export function addAdministrationCommands(program: Command): void {
  for (const [name, { description, rows }] of Object.entries(groups)) {
    const group = program.command(name).description(description)
    if (name === 'token') addTokenCreation(group)
    for (const row of rows) addRow(group, `${name}.`, row)
  }
  addRow(program, '', audit, (entries) => (entries as TrailEntry[]).map(rowOf))
  const migrate = 'bring the records of a Redis to the version that this version of Lanekeeper needs; a folder is migrated at start'
  addRow(program, '', ['migrate', migrate])
  addRow(program, '', ['forget-key', 'let a service start with another key after the key of its secrets was lost'])
  addCheckCommand(program)
}

/** @param toShow what people see of the result; default: all */
function addRow(
  parent: Command,
  prefix: string,
  [usage, summary, ...options]: Row,
  toShow: (result: unknown) => unknown = (result) => result,
): void {
  const command = addAdminCommand(parent, usage, summary)
  for (const option of options) {
    if (option === 'url') addSetting(command, option)
    else command.option(...option)
  }
  command.action(async () => {
    const { storage, bytes, json, url, ...own } = command.opts<CommonOptions & { url?: string }>()
    const input = Object.fromEntries(command.registeredArguments.map((argument, i) => [argument.name(), command.args[i]]))
    if (options.includes('url')) input['url'] = readUrl({ url }, process.env)
    const result = await runOnStorage({ storage, bytes }, prefix + command.name(), { ...input, ...own }, noIo)
    console.log(json === true ? JSON.stringify(result) : describe(toShow(result)))
  })
}

interface CreateOptions extends CommonOptions {
  readonly scope: string
  readonly name: string
  readonly days?: string
}

function addTokenCreation(token: Command): void {
  addAdminCommand(token, 'create <workspace> <user>', 'create a token for a machine without a browser, and print it once on stdout')
    .requiredOption('--scope <scope>', 'read or write; a token with kanban:admin is created by its person in the web app')
    .requiredOption('--name <name>', 'what the token is for, so that its person recognizes it in the list')
    .option('--days <number>', 'the lifetime, up to 90 days (default: 30, or less if the workspace says so)')
    .action(create)
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

function addCheckCommand(program: Command): void {
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
  if (summary.damage > 0) throw new Failure('damage', `damage was found: ${counted(summary.damage, 'finding')}`)
}

function findingText({ partition, kind, subject, message, repaired }: Finding): string {
  return [repaired ? `repaired ${kind}` : kind, partition, `${cell(subject)}:`, cell(message)].join(' ')
}
