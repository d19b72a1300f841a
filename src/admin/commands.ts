import { z } from 'zod'
import { displayName, roles, workspaceName } from '../model/workspace.ts'
import { exportWorkspace } from './export.ts'
import { importWorkspace } from './import.ts'
import { addMember, endMembership, listMembers, setRole } from './memberships.ts'
import { listTokens, revokeToken } from './tokens.ts'
import { AdminError, type CommandIo, type AdminDeps } from './deps.ts'
import { inviteUser, listUsers, requireUser, signOutUser, welcomeUser } from './users.ts'
import { createWorkspace, listWorkspaces, requireWorkspace } from './workspaces.ts'

/** One thing that the operator can have done, by this process or by the one that has the storage. */
export interface Command {
  readonly input: z.ZodType
  /** @throws {AdminError} {@link z.ZodError} */
  run(tools: AdminDeps, input: never, talk: CommandIo): Promise<unknown>
}

function command<Input>(input: z.ZodType<Input>, run: (tools: AdminDeps, input: Input, talk: CommandIo) => Promise<unknown>): Command {
  return { input, run }
}

const text = z.string()

/** Where a link leads: where the operator says, else where this process is found, else where it would be. */
function originOf(tools: AdminDeps, said: string | undefined): string {
  return said ?? tools.foundAt?.() ?? 'http://127.0.0.1:3000'
}

const inWorkspace = { workspace: text }
const member = { ...inWorkspace, user: text }

/** Everything that the operator can have done, by name. */
export const commands: Readonly<Record<string, Command>> = {
  'workspace.create': command(z.strictObject({ name: workspaceName }), (tools, { name }) => createWorkspace(tools, name)),
  'workspace.list': command(z.strictObject({}), listWorkspaces),

  'user.add': command(
    z.strictObject({
      name: displayName,
      avatar: z.url({ protocol: /^https$/, error: 'must be an address that begins with https://' }).optional(),
      origin: text.optional(),
    }),
    (tools, { name, avatar, origin }) => welcomeUser(tools, { display_name: name, avatar_url: avatar ?? null }, originOf(tools, origin)),
  ),
  'user.invite': command(z.strictObject({ user: text, origin: text.optional() }), (tools, { user, origin }) =>
    inviteUser(tools, user, originOf(tools, origin)),
  ),
  'user.sign-out': command(z.strictObject({ user: text }), (tools, { user }) => signOutUser(tools, user)),
  'user.list': command(z.strictObject({}), listUsers),

  'member.add': command(z.strictObject({ ...member, role: z.enum(roles) }), async (tools, { workspace, user, role }) => {
    await requireWorkspace(tools, workspace)
    const person = await requireUser(tools, user)
    const present = (await listMembers(tools, workspace)).find(({ user_id }) => user_id === user)
    if (present !== undefined) throw new AdminError('conflict', `${user} is a member already, as ${present.role}; see "member set-role"`)
    return addMember(tools, workspace, person, role)
  }),
  'member.set-role': command(z.strictObject({ ...member, role: z.enum(roles) }), async (tools, { workspace, user, role }) => {
    await requireWorkspace(tools, workspace)
    return setRole(tools, workspace, user, role)
  }),
  'member.remove': command(z.strictObject(member), async (tools, { workspace, user }) => {
    await requireWorkspace(tools, workspace)
    await requireUser(tools, user)
    if (!(await endMembership(tools, workspace, user))) throw new AdminError('not_found', `${user} is no member of ${workspace}`)
    return { user_id: user, removed: true }
  }),
  'member.list': command(z.strictObject(inWorkspace), async (tools, { workspace }) => {
    await requireWorkspace(tools, workspace)
    return listMembers(tools, workspace)
  }),

  'token.list': command(z.strictObject({ ...inWorkspace, user: text.optional() }), async (tools, { workspace, user }) => {
    await requireWorkspace(tools, workspace)
    if (user !== undefined) await requireUser(tools, user)
    return listTokens(tools, workspace, user)
  }),
  'token.revoke': command(z.strictObject({ ...inWorkspace, token: text }), async (tools, { workspace, token }) => {
    await requireWorkspace(tools, workspace)
    return revokeToken(tools, workspace, token)
  }),

  export: command(z.strictObject(inWorkspace), (tools, { workspace }, talk) => exportWorkspace(tools, workspace, talk)),
  import: command(z.strictObject({}), (tools, _input, talk) => importWorkspace(tools, talk)),
}

/**
 * Does one of them.
 * @throws {AdminError} also where the input does not fit
 */
export async function runCommand(tools: AdminDeps, name: string, input: unknown, talk: CommandIo): Promise<unknown> {
  const found = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (found === undefined) throw new AdminError('invalid', `there is no command "${name}"`)
  try {
    return await found.run(tools, found.input.parse(input) as never, talk)
  } catch (error) {
    if (error instanceof z.ZodError)
      throw new AdminError(
        'invalid',
        error.issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': ')).join('; '),
      )
    throw error
  }
}
