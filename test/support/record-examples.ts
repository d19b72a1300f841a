import { randomBytes } from 'node:crypto'
import { newId, systemRandom, type IdKind } from '../../src/model/ids.ts'
import { limits } from '../../src/model/limits.ts'
import type { PendingRemoval } from '../../src/model/pending-removal.ts'
import type { Tombstone } from '../../src/model/tombstone.ts'
import { keys, type Key } from '../../src/store/keys.ts'

const AT = '2026-11-20T11:00:00.000Z'
const id = (kind: IdKind): string => newId(kind, systemRandom)
const hash = (): string => randomBytes(32).toString('hex')
const many = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)
const times = { created_at: AT, updated_at: AT }

type Makers = typeof keys
/** What is stored under the keys that a function of `keys` makes. */
type RecordOf<Maker> = Maker extends (...parts: never[]) => Key<infer Stored> ? Stored : never
/** With every optional member. */
type Whole<T> = T extends readonly (infer Item)[]
  ? readonly Whole<Item>[]
  : T extends object
    ? { readonly [Member in keyof T]-?: Whole<Exclude<T[Member], undefined>> }
    : T

/** The examples of a kind, with new ids each time: no member is null, absent or an empty list. Or why a backup does not keep the kind. */
type Examples<Stored> =
  | {
      readonly in: readonly ('global' | 'workspace')[]
      readonly make: (workspaceId: string) => readonly (readonly [string, Whole<Stored>])[]
    }
  | string

/** An example with an id, under its own key. */
const byId = <T extends { id: string }>(key: (id: string) => Key<unknown>, value: T) => [[key(value.id), value]] as const

const removals: Readonly<Record<PendingRemoval['kind'], () => object>> = {
  label: () => ({ label_id: id('label') }),
  former_member: () => ({ user_id: id('user') }),
  file: () => ({ file_id: id('file') }),
  assignments: () => ({ board_id: id('board'), user_ids: many(2, () => id('user')), kept: ['a', 'b'] }),
}
/** What tombstones refer to. Those of bytes are not restored: the restored bytes have other ids. */
const tombstones: Readonly<Record<Exclude<Tombstone['kind'], 'blob'>, () => string>> = {
  board: () => id('board'),
  card: () => id('card'),
  file: () => id('file'),
  references: () => id('label'),
  responses: () => '2026-11-20T12',
  changes: () => id('board'),
  audit: () => 'self',
}
const OF_STORAGE = 'it describes the storage'
const IN_PROGRESS = 'it describes an import or a restore in progress'
const OF_BROWSER = 'it belongs to a browser'

/** The examples of every kind, by the functions that make their keys. */
export const examples: { readonly [Name in keyof Makers]: Examples<RecordOf<Makers[Name]>> } = {
  schema: OF_STORAGE,
  blobMount: OF_STORAGE,
  importing: IN_PROGRESS,
  importedBytes: IN_PROGRESS,
  restoring: IN_PROGRESS,
  restoredWorkspace: IN_PROGRESS,
  session: OF_BROWSER,
  challenge: OF_BROWSER,
  signUp: 'a sign-up link that was not used is worth nothing',
  accountEmail: 'it is made of the account',
  workspaceEntry: 'it is made of the workspace',
  workspace: 'nothing in it varies',
  user: {
    in: ['global'],
    make: () => byId(keys.user, { id: id('user'), display_name: 'Ann', avatar_url: 'https://example.org/a.png', ...times }),
  },
  demo: { in: ['global'], make: () => [[keys.demo(), { begun_at: AT, finished_at: AT }]] },
  account: {
    in: ['global'],
    make() {
      const user_id = id('user')
      const account = { user_id, email: `${user_id}@example.org`, password_hash: '$argon2id$x', devices: many(100, hash), ...times }
      return [[keys.account(user_id), account]]
    },
  },
  secondFactor: {
    in: ['global'],
    make() {
      const user_id = id('user')
      const secret = 'A'.repeat(32)
      const passkey = () => ({
        id: id('passkey'),
        name: 'Phone',
        credential_id: hash(),
        public_key: 'x',
        counter: 1,
        transports: ['internal', 'hybrid'],
        added_at: AT,
        used_at: AT,
      })
      const factor = {
        user_id,
        authenticator: { secret, added_at: AT, last_step: 1 },
        pending: { secret, session_id: id('session'), expires_at: AT },
        recovery_hashes: many(limits.recoveryCodes, hash),
        passkeys: many(limits.passkeysPerPerson, passkey),
      }
      return [[keys.secondFactor(user_id), factor]]
    },
  },
  notices: {
    in: ['global'],
    make() {
      const user_id = id('user')
      const origin = { agent: 'Firefox', address: '192.0.2.1' }
      const notice = () => ({ id: id('notice'), kind: 'new_sign_in', at: AT, ...origin, session_id: id('session'), name: 'CI' }) as const
      return [[keys.notices(user_id), { user_id, notices: many(limits.noticesPerPerson, notice) }]]
    },
  },
  workspaceLink: {
    in: ['global'],
    make(workspace_id) {
      const user_id = id('user')
      return [[keys.workspaceLink(user_id, workspace_id), { user_id, workspace_id }]]
    },
  },
  membership: {
    in: ['workspace'],
    make() {
      const user_id = id('user')
      const profile = { display_name: 'Ann', avatar_url: 'https://example.org/a.png' }
      return [[keys.membership(user_id), { user_id, role: 'member', ...profile, joined_at: AT, ended_at: AT, ...times }]]
    },
  },
  token: {
    in: ['workspace'],
    make() {
      const token = { id: id('token'), hash: hash(), user_id: id('user'), name: 'CI', scopes: ['kanban:read', 'other:read'] }
      const ends = { revoked_at: AT, replaced_by: id('token'), revoked_by: id('user') }
      return [[keys.token(token.hash), { ...token, issued_at: AT, expires_at: '2026-12-20T11:00:00.000Z', ...ends }]]
    },
  },
  tokenHash: { in: ['workspace'], make: () => [[keys.tokenHash(id('token')), { hash: hash() }]] },
  tokenRules: {
    in: ['workspace'],
    make: () => [[keys.tokenRules(), { max_days: 30, admin: true, updated_at: AT, updated_by: id('user') }]],
  },
  tokenUse: {
    in: ['workspace'],
    make() {
      const days = many(30, () => ({ day: '2026-11-20', calls: 2, refusals: 1 }))
      return [[keys.tokenUse(hash()), { at: AT, address: '192.0.2.1', agent: 'curl', days }]]
    },
  },
  board: {
    in: ['workspace'],
    make() {
      const text = { name: 'Board', description: 'Text', cover_color: '#1f6feb' }
      return byId(keys.board, { id: id('board'), ...text, visibility: 'private', creator_id: id('user'), ...times } as const)
    },
  },
  boardMember: {
    in: ['workspace'],
    make() {
      const [board_id, user_id] = [id('board'), id('user')]
      return [[keys.boardMember(board_id, user_id), { board_id, user_id, board_created_at: AT, added_at: AT }]]
    },
  },
  column: {
    in: ['workspace'],
    make: () =>
      byId(keys.column, {
        id: id('column'),
        board_id: id('board'),
        name: 'To do',
        position: 'a0',
        wip_limit: 3,
        archived_at: AT,
        ...times,
      }),
  },
  card: {
    in: ['workspace'],
    make: () =>
      byId(keys.card, {
        id: id('card'),
        board_id: id('board'),
        column_id: id('column'),
        title: 'Card',
        description: 'Text',
        position: 'a0',
        due_at: AT,
        completed_at: AT,
        completed_by_id: id('user'),
        archived_at: AT,
        assignee_ids: many(limits.assigneesPerCard, () => id('user')),
        label_ids: many(limits.labelsPerCard, () => id('label')),
        blocker_ids: many(limits.blockersPerCard, () => id('card')),
        cover_attachment_id: id('attachment'),
        creator_id: id('user'),
        ...times,
      }),
  },
  readiness: {
    in: ['workspace'],
    make() {
      const blocker_ids = many(limits.blockersPerCard, () => id('card'))
      const place = { card_id: id('card'), board_id: id('board'), column_id: id('column'), position: 'a0' }
      return [[keys.readiness(place.card_id), { ...place, is_open: true, blocker_ids, open_blocker_ids: blocker_ids.slice(1) }]]
    },
  },
  label: {
    in: ['workspace'],
    make: () => byId(keys.label, { id: id('label'), board_id: id('board'), name: 'x', color: '#1f6feb', ...times }),
  },
  subtask: {
    in: ['workspace'],
    make: () => byId(keys.subtask, { id: id('subtask'), card_id: id('card'), title: 'x', completed_at: AT, position: 'a0', ...times }),
  },
  comment: {
    in: ['workspace'],
    make: () => byId(keys.comment, { id: id('comment'), card_id: id('card'), author_id: id('user'), body: 'x', ...times }),
  },
  attachment: {
    in: ['workspace'],
    make() {
      const file = { file_id: id('file'), name: 'a.txt', content_type: 'text/plain', size: 0 }
      return byId(keys.attachment, { id: id('attachment'), card_id: id('card'), ...file, attached_by_id: id('user'), ...times })
    },
  },
  file: {
    in: ['workspace'],
    make() {
      const bytes = { name: 'a.txt', content_type: 'text/plain', size: 0, blob_id: id('blob'), sha256: hash() }
      const owner = { owner_id: id('user'), visibility: 'board', board_id: id('board') } as const
      return byId(keys.file, { id: id('file'), ...owner, ...bytes, ...times })
    },
  },
  order: {
    in: ['workspace'],
    make: () =>
      (['board', 'column', 'card'] as const).map((list) => {
        const map = () => ({ from: 0, low: 'a0', high: 'a9', old: ['a1', 'a2'], new: ['a3', 'a4'] })
        return [keys.order(id(list)), { generation: 1, maps: many(2, map) }] as const
      }),
  },
  firstResponse: {
    in: ['workspace'],
    make() {
      const [token_hash, key_hash] = [hash(), hash()]
      const request = { request_hash: hash(), hour: '2026-11-20T11', board_id: id('board') }
      const response = { status: 201 as const, location: '/cards/x', revision: 'r', data: { id: 'x', list: [1, null] } }
      const texts = [{ path: ['list', 1, 'body'], sha256: hash() }]
      return [[keys.firstResponse(token_hash, key_hash), { token_hash, key_hash, ...request, ...response, texts }]]
    },
  },
  responseText: {
    in: ['workspace'],
    make() {
      const [hour, sha256] = ['2026-11-20T11', hash()]
      return [[keys.responseText(hour, sha256), { hour, sha256, text: 'a long text' }]]
    },
  },
  claim: {
    in: ['workspace'],
    make() {
      const [card_id, holder] = [id('card'), { holder_id: id('user'), token_id: id('token'), token_hash: hash() }]
      return [[keys.claim(card_id), { card_id, board_id: id('board'), ...holder, epoch: 3, expires_at: AT, renewed_at: AT, taken_at: AT }]]
    },
  },
  change: {
    in: ['workspace'],
    make() {
      const author = { actor_id: id('user'), token_id: id('token'), request_id: 'r' }
      return [
        [keys.change(id('board'), '0000000000000001'), { at: AT, kind: 'claim', id: id('card'), action: 'claimed', epoch: 3, ...author }],
      ]
    },
  },
  audit: {
    in: ['global', 'workspace'],
    make() {
      const who = { user_id: id('user'), token_id: id('token'), token_name: 'CI', subject_id: id('user') }
      const what = {
        operation: 'cards.create',
        surface: 'operator',
        ids: many(200, () => id('card')),
        rows: ['P1', 'X2'],
        outcome: 'denied',
        status: 403,
      } as const
      const how = { code: 'forbidden', request_id: 'r', address: '192.0.2.1', agent: 'curl', count: 2 }
      const entries = many(2, () => ({ at: AT, ...who, ...what, ...how }))
      return byId(keys.audit, { id: id('audit'), at: AT, users: many(2, () => id('user')), entries })
    },
  },
  tombstone: {
    in: ['workspace'],
    make: () =>
      (Object.keys(tombstones) as (keyof typeof tombstones)[]).map((kind) => {
        const tombstone = { id: id('tombstone'), kind, target: tombstones[kind](), not_before: AT, claimed: true, again: true } as const
        return [keys.tombstone(tombstone.id), tombstone] as const
      }),
  },
  removals: {
    in: ['workspace'],
    make() {
      const pending = Object.entries(removals).map(([kind, of]) => ({ id: id('tombstone'), step: 1, after: 'a', kind, ...of() }))
      return [[keys.removals(), { pending: pending as never }]]
    },
  },
}
