import { newId } from '../../src/model/ids.ts'
import type { Role } from '../../src/model/workspace.ts'
import { addMember } from '../../src/operator/memberships.ts'
import { addUser } from '../../src/operator/users.ts'
import { keys } from '../../src/store/keys.ts'
import type { Person, Service } from './service.ts'

type Facts = Readonly<Record<string, string>>

/** A workspace in which every situation of the oracle can be brought about. */
export interface World {
  readonly service: Service
  readonly workspaceId: string
  /** by `role membership` */
  readonly callers: ReadonlyMap<string, Person>
  /** whoever the caller is not */
  readonly other: Person
}

/** Everything that a request of one situation may name. */
export interface Stage {
  readonly caller: Person
  readonly params: Readonly<Record<string, string>>
}

const ROLES: readonly Role[] = ['owner', 'admin', 'member']

export async function buildWorld(service: Service): Promise<World> {
  const workspaceId = await service.workspace()
  const callers = new Map<string, Person>()
  for (const role of ROLES) {
    for (const membership of ['active', 'ended']) {
      const person = await service.person(workspaceId, role, `${role} ${membership}`)
      if (membership === 'ended') await service.leaveOnly(workspaceId, person.id)
      callers.set(`${role} ${membership}`, person)
    }
  }
  return { service, workspaceId, callers, other: await service.person(workspaceId, 'member', 'Other') }
}

/**
 * Brings a situation about, with objects of its own.
 * @returns undefined where it cannot be: a person who is the caller cannot have left while the caller is there
 */
export async function setStage(world: World, facts: Facts): Promise<Stage | undefined> {
  const caller = world.callers.get(`${facts['caller.role']} ${facts['caller.membership']}`)!
  const creator = facts['board.caller'] === 'creator' ? caller.id : world.other.id
  const user = await setUser(world, facts, caller, creator)
  if (user === undefined) return undefined
  const boardId = await plantBoard(world, facts, { caller: caller.id, creator, user: user.id })
  return { caller, params: { board_id: boardId, user_id: user.id } }
}

async function setUser(
  { service, workspaceId, other }: World,
  facts: Facts,
  caller: Person,
  creator: string,
): Promise<{ id: string } | undefined> {
  if (facts['user.board'] === undefined) return other
  if (facts['user.board'] === 'creator') {
    const membership = creator === caller.id ? facts['caller.membership'] : 'active'
    if (facts['user.membership'] === membership) return { id: creator }
    if (creator === caller.id) return undefined
  }
  const user = await addUser(service.tools, { display_name: 'Named' })
  await addMember(service.tools, workspaceId, user, 'member')
  if (facts['user.membership'] === 'ended') await service.leaveOnly(workspaceId, user.id)
  return user
}

async function plantBoard(
  { service, workspaceId }: World,
  facts: Facts,
  who: { caller: string; creator: string; user: string },
): Promise<string> {
  const id = newId('board', service.tools.random)
  const at = '2026-11-01T00:00:00.000Z'
  const visibility = facts['board.visibility'] === 'private' ? 'private' : 'workspace'
  const creator_id = facts['user.board'] === 'creator' ? (who.creator === who.caller ? who.caller : who.user) : who.creator
  await service.write(workspaceId, async (tx) => {
    const members = [...(facts['board.caller'] === 'member' ? [who.caller] : []), ...(facts['user.board'] === 'member' ? [who.user] : [])]
    await tx.read([keys.board(id), ...members.map((userId) => keys.boardMember(id, userId))])
    tx.put(keys.board(id), {
      id,
      name: 'Staged',
      description: '',
      cover_color: null,
      visibility,
      creator_id,
      created_at: at,
      updated_at: at,
    })
    for (const user_id of members) tx.put(keys.boardMember(id, user_id), { board_id: id, user_id, board_created_at: at, added_at: at })
  })
  return id
}
