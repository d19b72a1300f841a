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
import { readImportTarget, type ImportLimits } from './import-target.ts'
import { migrateStore } from '../store/migrations/run.ts'
import { forgetKey } from './secret-keys.ts'
import { addMember, endMembership, listMembers, setRole } from './memberships.ts'
import { restore } from './restore.ts'
import { requireNoRestore } from './restore-run.ts'
import { createToken, listTokens, operatorScopes, revokeToken } from './tokens.ts'
import { transferBoard } from './boards.ts'
import {
  addUserWithLink,
  disableUser,
  inviteUser,
  listUsers,
  requireUser,
  resetSecondFactor,
  showUser,
  signOutUser,
  unbindUser,
} from './users.ts'
import { enableWebhooks } from './webhooks.ts'
import { createWorkspace, listWithUse, requireWorkspace } from './workspaces.ts'

/** An administration command. It runs in this process, or over RPC in the process that holds the storage. */
interface Command {
  readonly input: z.ZodType
  /** @throws {AdminError} {@link z.ZodError} */
  run(deps: AdminDeps, input: never, io: CommandIo): Promise<unknown>
}

function command<Shape extends z.ZodRawShape>(
  shape: Shape,
  run: (deps: AdminDeps, input: z.output<z.ZodObject<Shape>>, io: CommandIo) => Promise<unknown>,
): Command {
  return { input: z.strictObject(shape), run }
}

/** A command on a workspace, and on a user if its input has one. Both must exist. */
function inWorkspace<Shape extends z.ZodRawShape>(
  shape: Shape,
  run: (deps: AdminDeps, input: z.output<z.ZodObject<Shape & typeof workspaceInput>>, io: CommandIo) => Promise<unknown>,
): Command {
  return command({ ...workspaceInput, ...shape }, async (deps, input, io) => {
    const { workspace, user } = input as { readonly workspace: string; readonly user?: string }
    await requireWorkspace(deps, workspace)
    if (user !== undefined) await requireUser(deps, user)
    return run(deps, input as never, io)
  })
}

const DEFAULT_URL = 'http://127.0.0.1:3000'
const text = z.string()
const workspaceInput = { workspace: text }
const ofUser = { user: text }
const question = {
  operation: text,
  resource: text.optional(),
  named: z.record(text, z.array(text).min(1)),
  fields: z.array(text).min(1).optional(),
}
const linkUrl = { url: text.optional() }

const operatorScope = z
  .enum(
    Object.keys(operatorScopes) as (keyof typeof operatorScopes)[],
    'it must be read or write; a token with kanban:admin is created by its person in the web app, who proves there who they are',
  )
  .transform((name) => operatorScopes[name])

/** What a link begins with: from the input, else of the running service, else the default address. */
function urlOf(deps: AdminDeps, url: string | undefined): string {
  return url ?? deps.serviceUrl?.() ?? DEFAULT_URL
}

function answersOf({ policyAnswers }: AdminDeps): PolicyAnswers {
  if (policyAnswers === undefined) throw new TypeError('this process has no policy to explain')
  return policyAnswers
}

/** All administration commands by name. */
const commands: Readonly<Record<string, Command>> = {
  'workspace.create': command({ name: workspaceName }, (deps, { name }) => createWorkspace(deps, name)),
  'workspace.list': command({}, listWithUse),

  init: command({ workspace: workspaceName, owner: displayName, email: emailAddress, ...linkUrl }, (deps, { url, ...names }) =>
    initialize(deps, names, urlOf(deps, url)),
  ),

  'user.add': command(
    { name: displayName, avatar: avatarUrl.optional(), email: emailAddress.optional(), ...linkUrl },
    (deps, { name, avatar, email, url }) =>
      addUserWithLink(deps, { display_name: name, avatar_url: avatar ?? null }, urlOf(deps, url), email),
  ),
  'user.invite': command({ ...ofUser, email: emailAddress.optional(), ...linkUrl }, (deps, { user, email, url }) =>
    inviteUser(deps, user, urlOf(deps, url), email),
  ),
  'user.show': command(ofUser, (deps, { user }) => showUser(deps, user)),
  'user.unbind': command(ofUser, (deps, { user }) => unbindUser(deps, user)),
  'user.sign-out': command(ofUser, (deps, { user }) => signOutUser(deps, user)),
  'user.reset-second-factor': command(ofUser, (deps, { user }) => resetSecondFactor(deps, user)),
  'user.disable': command(ofUser, (deps, { user }) => disableUser(deps, user)),
  'user.list': command({}, listUsers),

  'member.add': inWorkspace({ ...ofUser, role: z.enum(roles) }, async (deps, { workspace, user, role }) => {
    const present = (await listMembers(deps, workspace)).find(({ user_id }) => user_id === user)
    if (present !== undefined)
      throw new AdminError('conflict', `${user} is already a member, with the role ${present.role}; to change it, use "member set-role"`)
    return addMember(deps, workspace, await requireUser(deps, user), role)
  }),
  'member.set-role': inWorkspace({ ...ofUser, role: z.enum(roles) }, (deps, { workspace, user, role }) =>
    setRole(deps, workspace, user, role),
  ),
  'member.remove': inWorkspace(ofUser, async (deps, { workspace, user }) => {
    if (!(await endMembership(deps, workspace, user))) throw new AdminError('not_found', `${user} is not a member of ${workspace}`)
    return { user_id: user, removed: true }
  }),
  'member.list': inWorkspace({}, (deps, { workspace }) => listMembers(deps, workspace)),

  'board.transfer': inWorkspace({ ...ofUser, board: text }, (deps, { workspace, board, user }) =>
    transferBoard(deps, workspace, board, user),
  ),

  'token.list': inWorkspace({ user: text.optional() }, (deps, { workspace, user }) => listTokens(deps, workspace, user)),
  'token.create': inWorkspace({ ...ofUser, scope: operatorScope, name: tokenName, days: tokenDays.optional() }, createToken),
  'token.revoke': inWorkspace({ token: text }, (deps, { workspace, token }) => revokeToken(deps, workspace, token)),

  'webhooks.enable': command({ workspace: text.optional(), dryRun: z.boolean().optional() }, enableWebhooks),

  audit: command(
    {
      workspace: text.optional(),
      user: text.optional(),
      token: text.optional(),
      since: text.optional(),
      denials: z.boolean().optional(),
      limit: z.preprocess(Number, z.int().min(1).max(100_000)),
    },
    listAudit,
  ),

  'policy.explain': inWorkspace({ ...question, ...ofUser, scope: text.optional() }, (deps, input) => answersOf(deps).explain(deps, input)),
  'policy.who-can': inWorkspace(question, (deps, input) => answersOf(deps).whoCan(deps, input)),
  'policy.what-can': inWorkspace({ ...ofUser, board: text.optional(), scope: text }, (deps, input) => answersOf(deps).whatCan(deps, input)),

  export: inWorkspace({}, (deps, { workspace }, io) => exportWorkspace(deps, workspace, io)),
  import: command({}, (deps, _input, io) => importWorkspace(deps, io)),

  'import.board': inWorkspace(ofUser, importBoard),
  'import.limits': command({}, async ({ uploadLimit }) => {
    if (uploadLimit === undefined) throw new TypeError('this process makes no requests')
    return { upload_bytes: uploadLimit() } satisfies ImportLimits
  }),
  'import.target': inWorkspace({ ...ofUser, board: text }, readImportTarget),

  backup: command({}, (deps, _input, io) => backUp(deps, io)),
  check: command({ reindex: z.boolean(), quick: z.boolean() }, checkStorage),
  'forget-key': command({}, forgetKey),
  migrate: command({}, (deps, _input, io) => migrateStore({ ...deps, progress: io.progress })),
  restore: command({}, (deps, _input, io) => restore(deps, io)),
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
