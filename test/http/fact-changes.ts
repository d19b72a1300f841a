import { sha256Hex } from '../../src/auth/secrets.ts'
import { newId } from '../../src/model/ids.ts'
import { DAY } from '../../src/model/time.ts'
import type { Role } from '../../src/model/workspace.ts'
import { keys, type Key } from '../../src/store/keys.ts'
import type { HandWrittenOperation } from '../support/hand-written-decisions.ts'
import { AT, boardRecord, type Scenario, type World } from '../support/scenario.ts'

/** What a fact is about: a scenario, and the request that is sent in it. */
export interface Subject {
  readonly world: World
  readonly scenario: Scenario
  readonly operation: HandWrittenOperation
  /** the current time at first, in milliseconds since 1970 */
  readonly start: number
}

/** A fact, and how it is changed. */
export interface ChangeableFact {
  /** written by hand, and compared with the vocabulary */
  readonly values: readonly string[]
  /** Writes records so that the fact has this value. It always writes a record that the decision reads. */
  change(subject: Subject, value: string): Promise<unknown>
}

/** Writes some members of a record. */
function edit<T>({ world }: Subject, key: Key<T>, members: Partial<T>): Promise<void> {
  return world.service.write(world.workspaceId, async (tx) => tx.put(key, { ...(await tx.get(key))!, ...members }))
}

const MEMBERSHIP = {
  values: ['active', 'ended'],
  write: (subject: Subject, userId: string, value: string) =>
    edit(subject, keys.membership(userId), { ended_at: value === 'ended' ? '2026-11-01T00:00:00.000Z' : null }),
}

const RELATION = {
  values: ['creator', 'member', 'none'],
  /** @param another becomes the creator if the person is not */
  write: ({ world, scenario }: Subject, userId: string, value: string, another: string) =>
    world.service.write(world.workspaceId, async (tx) => {
      const [boardId, added_at] = [scenario.params['board_id']!, '2026-11-01T00:00:00.000Z']
      const [board, member] = [keys.board(boardId), keys.boardMember(boardId, userId)]
      const [present] = await tx.read([board, member])
      const creator_id = value === 'creator' ? userId : another
      // A member who leaves changes no record except the membership.
      if (value === 'creator' || present!.creator_id === userId) tx.put(board, { ...present!, creator_id })
      if (value === 'member') tx.put(member, { board_id: boardId, user_id: userId, board_created_at: present!.created_at, added_at })
      else tx.remove(member)
    }),
}

const VISIBILITIES = ['workspace', 'private'] as const
const FILE_VISIBILITIES = ['workspace', 'board', 'private'] as const
const visibilityOf = (value: string) => VISIBILITIES.find((one) => one === value)!

/** The file that the facts of an operation describe. */
async function fileOf({ world, scenario: { params }, operation: { id, decision } }: Subject): Promise<string> {
  if (id === 'attachments.attach' || id.startsWith('files.')) return params['file_id']!
  const attachment = keys.attachment(params[decision === 'access and the cover' ? 'cover_attachment_id' : 'attachment_id']!)
  return (await world.service.write(world.workspaceId, (tx) => tx.get(attachment)))!.file_id
}

const tokenOf = ({ scenario, operation }: Subject) => keys.token(sha256Hex(scenario.caller[operation.scope]))
/** A person who is neither the caller, nor named, nor the creator of a board in any scenario. */
const bystander = ({ world, scenario }: Subject) => [...world.callers.values()].find(({ id }) => id !== scenario.caller.id)!.id

/** How each fact is changed while a request is in progress, or between two requests. */
export const changeableFacts: Readonly<Record<string, ChangeableFact>> = {
  'token.scope': {
    values: ['none', 'kanban:read', 'kanban:write', 'kanban:admin'],
    change: (subject, value) => edit(subject, tokenOf(subject), { scopes: value === 'none' ? ['other:read'] : [value] }),
  },
  'caller.membership': {
    values: MEMBERSHIP.values,
    change: (subject, value) => MEMBERSHIP.write(subject, subject.scenario.caller.id, value),
  },
  'caller.role': {
    values: ['owner', 'admin', 'member'],
    change: (subject, value) => edit(subject, keys.membership(subject.scenario.caller.id), { role: value as Role }),
  },
  'board.visibility': {
    values: VISIBILITIES,
    change: (subject, value) => edit(subject, keys.board(subject.scenario.params['board_id']!), { visibility: visibilityOf(value) }),
  },
  'board.caller': {
    values: RELATION.values,
    change: (subject, value) => RELATION.write(subject, subject.scenario.caller.id, value, subject.world.other.id),
  },
  'comment.author': {
    values: ['caller', 'other'],
    change: (subject, value) => {
      const { world, scenario } = subject
      const author_id = value === 'caller' ? scenario.caller.id : world.other.id
      return edit(subject, keys.comment(scenario.params['comment_id']!), { author_id })
    },
  },
  'file.visibility': {
    values: FILE_VISIBILITIES,
    change: async (subject, value) =>
      edit(subject, keys.file(await fileOf(subject)), { visibility: FILE_VISIBILITIES.find((one) => one === value)! }),
  },
  'home.board': {
    values: ['workspace', 'private_member', 'private_other', 'deleted'],
    change: async (subject, value) => {
      const { world, scenario } = subject
      const fileId = await fileOf(subject)
      await world.service.write(world.workspaceId, async (tx) => {
        const file = await tx.get(keys.file(fileId))
        const id = file!.board_id!
        const [board, member] = [keys.board(id), keys.boardMember(id, scenario.caller.id)]
        await tx.read([board, member])
        if (value === 'deleted') return tx.remove(board)
        tx.put(board, boardRecord(id, world.other.id, value === 'workspace' ? 'workspace' : 'private'))
        if (value === 'private_member') tx.put(member, { board_id: id, user_id: scenario.caller.id, board_created_at: AT, added_at: AT })
        else tx.remove(member)
      })
    },
  },
  'file.owner': {
    values: ['caller', 'other'],
    change: async (subject, value) => {
      const { world, scenario } = subject
      const owner_id = value === 'caller' ? scenario.caller.id : world.other.id
      return edit(subject, keys.file(await fileOf(subject)), { owner_id })
    },
  },
  'cover.state': {
    values: ['set', 'none'],
    change: (subject, value) => {
      const { params } = subject.scenario
      const cover_attachment_id = value === 'set' ? params['cover_attachment_id']! : null
      return edit(subject, keys.card(params['card_id']!), { cover_attachment_id })
    },
  },
  'user.membership': {
    values: MEMBERSHIP.values,
    change: (subject, value) => MEMBERSHIP.write(subject, subject.scenario.params['user_id']!, value),
  },
  'user.board': {
    values: RELATION.values,
    change: (subject, value) => RELATION.write(subject, subject.scenario.params['user_id']!, value, bystander(subject)),
  },
  'label.board': {
    values: ['this', 'other'],
    change: (subject, value) => {
      const { world, scenario } = subject
      const board_id = value === 'this' ? scenario.params['board_id']! : newId('board', world.service.deps.random)
      return edit(subject, keys.label(scenario.params['label_id']!), { board_id })
    },
  },
}

/** The states of a token. They are no fact of the vocabulary: all but the first are answered with 401 before any table is asked. */
export const tokenState: ChangeableFact = {
  values: ['active', 'revoked', 'replaced', 'expired', 'expired by the clock'],
  change: (subject, value) => {
    const past = new Date(subject.start - DAY).toISOString()
    subject.world.service.now = subject.start + (value === 'expired by the clock' ? 91 * DAY : 0)
    return edit(subject, tokenOf(subject), {
      revoked_at: value === 'revoked' || value === 'replaced' ? past : null,
      replaced_by: value === 'replaced' ? 'tok_00000000000000000000' : null,
      expires_at: new Date(subject.start + (value === 'expired' ? 0 : 30 * DAY)).toISOString(),
    })
  },
}

/**
 * Another attachment of the card becomes its cover, so that the facts of the cover's file are those of another file. In a
 * scenario in which the caller has access to the file of the cover, they have none to that of the other attachment.
 */
export const coverFile: ChangeableFact = {
  values: ['accessible', 'hidden'],
  change: (subject, value) => {
    const { params } = subject.scenario
    const cover_attachment_id = params[value === 'accessible' ? 'cover_attachment_id' : 'attachment_id']!
    return edit(subject, keys.card(params['card_id']!), { cover_attachment_id })
  },
}
