import { z } from 'zod'
import { emailAddress, tokenDays, tokenName } from '../model/account.ts'
import { avatarUrl, displayName, roles, workspaceName } from '../model/workspace.ts'
import { listAudit } from './audit.ts'
import { backUp } from './backup.ts'
import { importBoard } from './board-import.ts'
import { checkStorage } from './check.ts'
import { AdminError, type AdminDeps, type CommandIo, type PolicyAnswers } from './deps.ts'
import { exportWorkspace } from './workspace-export.ts'
import { initialize } from './init.ts'
import { importWorkspace } from './import.ts'
import { migrateStore } from '../store/migrations/run.ts'
import { addMember, endMembership, listMembers, setRole } from './memberships.ts'
import { restore } from './restore.ts'
import { requireNoRestore } from './restore-run.ts'
import { createToken, listTokens, operatorScopes, revokeToken } from './tokens.ts'
import { transferBoard } from './boards.ts'
import { addUserWithLink, disableUser, inviteUser, listUsers, requireUser, resetSecondFactor, signOutUser } from './users.ts'
import { createWorkspace, listWorkspaces, requireWorkspace } from './workspaces.ts'

/** An administration command. It runs in this process, or over RPC in the process that holds the storage. */
interface Command {
  readonly input: z.ZodType
  /** @throws {AdminError} {@link z.ZodError} */
  run(deps: AdminDeps, input: never, io: CommandIo): Promise<unknown>
}

function command<Input>(input: z.ZodType<Input>, run: (deps: AdminDeps, input: Input, io: CommandIo) => Promise<unknown>): Command {
  return { input, run }
}

const DEFAULT_ORIGIN = 'http://127.0.0.1:3000'
const text = z.string()
const workspaceInput = { workspace: text }
const memberInput = { ...workspaceInput, user: text }
const question = {
  ...workspaceInput,
  operation: text,
  resource: text.optional(),
  named: z.record(text, z.array(text).min(1)),
  fields: z.array(text).min(1).optional(),
}

const operatorScope = z
  .enum(
    Object.keys(operatorScopes) as (keyof typeof operatorScopes)[],
    'it must be read or write; a token with kanban:admin is created by its person in the web app, who proves there who they are',
  )
  .transform((name) => operatorScopes[name])

/** The origin of a link: from the input, else of the running service, else the default address. */
function originOf(deps: AdminDeps, origin: string | undefined): string {
  return origin ?? deps.serviceUrl?.() ?? DEFAULT_ORIGIN
}

function answersOf({ policyAnswers }: AdminDeps): PolicyAnswers {
  if (policyAnswers === undefined) throw new TypeError('this process has no policy to explain')
  return policyAnswers
}

/** All administration commands by name. */
const commands: Readonly<Record<string, Command>> = {
  'workspace.create': command(z.strictObject({ name: workspaceName }), (deps, { name }) => createWorkspace(deps, name)),
  'workspace.list': command(z.strictObject({}), listWorkspaces),

  init: command(
    z.strictObject({ workspace: workspaceName, owner: displayName, email: emailAddress, origin: text.optional() }),
    (deps, { origin, ...names }) => initialize(deps, names, originOf(deps, origin)),
  ),

  'user.add': command(
    z.strictObject({
      name: displayName,
      avatar: avatarUrl.optional(),
      origin: text.optional(),
    }),
    (deps, { name, avatar, origin }) => addUserWithLink(deps, { display_name: name, avatar_url: avatar ?? null }, originOf(deps, origin)),
  ),
  'user.invite': command(z.strictObject({ user: text, origin: text.optional() }), (deps, { user, origin }) =>
    inviteUser(deps, user, originOf(deps, origin)),
  ),
  'user.sign-out': command(z.strictObject({ user: text }), (deps, { user }) => signOutUser(deps, user)),
  'user.reset-second-factor': command(z.strictObject({ user: text }), (deps, { user }) => resetSecondFactor(deps, user)),
  'user.disable': command(z.strictObject({ user: text }), (deps, { user }) => disableUser(deps, user)),
  'user.list': command(z.strictObject({}), listUsers),

  'member.add': command(z.strictObject({ ...memberInput, role: z.enum(roles) }), async (deps, { workspace, user, role }) => {
    await requireWorkspace(deps, workspace)
    const newMember = await requireUser(deps, user)
    const present = (await listMembers(deps, workspace)).find(({ user_id }) => user_id === user)
    if (present !== undefined)
      throw new AdminError('conflict', `${user} is already a member, with the role ${present.role}; to change it, use "member set-role"`)
    return addMember(deps, workspace, newMember, role)
  }),
  'member.set-role': command(z.strictObject({ ...memberInput, role: z.enum(roles) }), async (deps, { workspace, user, role }) => {
    await requireWorkspace(deps, workspace)
    return setRole(deps, workspace, user, role)
  }),
  'member.remove': command(z.strictObject(memberInput), async (deps, { workspace, user }) => {
    await requireWorkspace(deps, workspace)
    await requireUser(deps, user)
    if (!(await endMembership(deps, workspace, user))) throw new AdminError('not_found', `${user} is not a member of ${workspace}`)
    return { user_id: user, removed: true }
  }),
  'member.list': command(z.strictObject(workspaceInput), async (deps, { workspace }) => {
    await requireWorkspace(deps, workspace)
    return listMembers(deps, workspace)
  }),

  'board.transfer': command(z.strictObject({ ...workspaceInput, board: text, user: text }), async (deps, { workspace, board, user }) => {
    await requireWorkspace(deps, workspace)
    return transferBoard(deps, workspace, board, user)
  }),

  'token.list': command(z.strictObject({ ...workspaceInput, user: text.optional() }), async (deps, { workspace, user }) => {
    await requireWorkspace(deps, workspace)
    if (user !== undefined) await requireUser(deps, user)
    return listTokens(deps, workspace, user)
  }),
  'token.create': command(
    z.strictObject({ ...memberInput, scope: operatorScope, name: tokenName, days: tokenDays.optional() }),
    async (deps, input, io) => {
      await requireWorkspace(deps, input.workspace)
      await requireUser(deps, input.user)
      return createToken(deps, input, io)
    },
  ),
  'token.revoke': command(z.strictObject({ ...workspaceInput, token: text }), async (deps, { workspace, token }) => {
    await requireWorkspace(deps, workspace)
    return revokeToken(deps, workspace, token)
  }),

  audit: command(
    z.strictObject({
      workspace: text.optional(),
      user: text.optional(),
      token: text.optional(),
      since: text.optional(),
      denials: z.boolean(),
      limit: z.int().min(1).max(100_000),
    }),
    listAudit,
  ),

  'policy.explain': command(z.strictObject({ ...question, user: text, scope: text.optional() }), async (deps, input) => {
    await requireWorkspace(deps, input.workspace)
    return answersOf(deps).explain(deps, input)
  }),
  'policy.who-can': command(z.strictObject(question), async (deps, input) => {
    await requireWorkspace(deps, input.workspace)
    return answersOf(deps).whoCan(deps, input)
  }),
  'policy.what-can': command(z.strictObject({ ...memberInput, board: text.optional(), scope: text }), async (deps, input) => {
    await requireWorkspace(deps, input.workspace)
    return answersOf(deps).whatCan(deps, input)
  }),

  export: command(z.strictObject(workspaceInput), (deps, { workspace }, io) => exportWorkspace(deps, workspace, io)),
  import: command(z.strictObject({}), (deps, _input, io) => importWorkspace(deps, io)),

  'import.board': command(z.strictObject(memberInput), importBoard),

  backup: command(z.strictObject({}), (deps, _input, io) => backUp(deps, io)),
  check: command(z.strictObject({ reindex: z.boolean(), quick: z.boolean() }), (deps, options, io) => checkStorage(deps, options, io)),
  migrate: command(z.strictObject({}), (deps, _input, io) => migrateStore({ ...deps, progress: io.progress })),
  restore: command(z.strictObject({}), (deps, _input, io) => restore(deps, io)),
}

/**
 * Runs a command by name.
 * @throws {AdminError} `invalid` if the command is unknown or its input does not match its schema; `conflict` while the
 *   storage is being restored; else as the command does
 */
export async function runCommand(deps: AdminDeps, name: string, input: unknown, io: CommandIo): Promise<unknown> {
  const known = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (known === undefined) throw new AdminError('invalid', `unknown command "${name}"`)
  try {
    const parsed = known.input.parse(input) as never
    // The records are incomplete until it has finished.
    if (name !== 'restore') await requireNoRestore(deps)
    return await known.run(deps, parsed, io)
  } catch (error) {
    if (error instanceof z.ZodError)
      throw new AdminError(
        'invalid',
        error.issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': ')).join('; '),
      )
    throw error
  }
}
