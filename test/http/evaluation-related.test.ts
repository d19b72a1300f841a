import { describe, expect, test } from 'vitest'
import { isIdMember, shapeOf } from '../../src/http/body-members.ts'
import { isBatchable } from '../../src/resources/batch/operations.ts'
import { namesInPath, type Operation } from '../../src/resources/operation.ts'
import { operations } from '../../src/resources/table.ts'
import { TestBoard } from '../support/board.ts'
import { questionOf } from '../support/evaluations.ts'
import { expectEqual } from '../support/expect-equal.ts'
import { png } from '../support/pictures.ts'
import { bytes, Service, type Person, type Reply } from '../support/service.ts'

// What a request names in addition to the resource of its path is decided in the same way by the operation, by an evaluation of it and by a
// batch. The operations are dry runs: they decide everything, and change nothing.

/** What a board has, by kind. The card that requests are about has a label, an assignee and what else a card can have. */
type Content = Awaited<ReturnType<typeof createContent>>

/** the creator of the board */
let ann: Person
/** an explicit member of the board */
let bob: Person
/** a member of the workspace without access to the board */
let dan: Person
/** whose membership has ended */
let eve: Person

async function createContent(creator: Person, visibility: 'workspace' | 'private', members: readonly Person[]) {
  const board = await TestBoard.create(service, creator, visibility)
  for (const person of members) await board.add(person)
  const [column, otherColumn, archivedColumn] = [await board.column(), await board.column(), await board.column()]
  const [card, neighbor, archivedCard] = [await board.card(column), await board.card(column), await board.card(column)]
  const cardOfOtherColumn = await board.card(otherColumn)
  await board.post(`/cards/${archivedCard}/archive`)
  await board.post(`/columns/${archivedColumn}/archive`)
  const [applied, label] = [await board.label(), await board.label()]
  await board.put(`/cards/${card}/labels/${applied}`)
  await board.put(`/cards/${card}/assignees/${creator.id}`)
  const attach = async (to: string, type: string, secret?: string): Promise<{ id: string; file_id: string }> =>
    (await board.attach(to, { type, text: type === 'image/png' ? png(1, 1) : 'hello', visibility: secret })).body.data
  const [image, secretImage] = [await attach(card, 'image/png'), await attach(card, 'image/png', 'private')]
  const [imageOfNeighbor, secretOfNeighbor] = [await attach(neighbor, 'image/png'), await attach(neighbor, 'image/png', 'private')]
  return {
    board,
    column,
    otherColumn,
    archivedColumn,
    card,
    neighbor,
    archivedCard,
    cardOfOtherColumn,
    applied,
    label,
    image,
    secretImage,
    imageOfNeighbor,
    secretOfNeighbor,
    text: await attach(card, 'text/plain'),
    subtask: await board.subtask(card),
    neighborSubtask: await board.subtask(card),
    subtaskOfNeighbor: await board.subtask(neighbor),
    comment: await board.comment(card),
  }
}

const service = await Service.forSuite()
const workspaceId = await service.workspace()
const person = (name: string) => service.person(workspaceId, 'member', name)
const cyd = await person('Cyd')
;[ann, bob, dan, eve] = [await person('Ann'), await person('Bob'), await person('Dan'), await person('Eve')]
const stranger = await service.person(await service.workspace('Other'), 'owner', 'Stranger')
const own = await createContent(ann, 'private', [bob, eve])
const readable = await createContent(cyd, 'workspace', [])
const hidden = await createContent(cyd, 'private', [])
const foreign = await createContent(stranger, 'workspace', [])
await service.leaveOnly(workspaceId, eve.id)

type Kind = 'column' | 'card' | 'subtask' | 'label' | 'attachment' | 'file' | 'user'
const PREFIX = { column: 'col', card: 'crd', subtask: 'sub', label: 'lbl', attachment: 'att', file: 'fil', user: 'usr' } as const

/** What else an id can be related to, by its kind: on the same board. */
const related: Readonly<Record<Kind, () => Readonly<Record<string, string>>>> = {
  column: () => ({ another: own.otherColumn, archived: own.archivedColumn, itself: own.column }),
  card: () => ({ neighbor: own.neighbor, 'in another column': own.cardOfOtherColumn, archived: own.archivedCard, itself: own.card }),
  subtask: () => ({ neighbor: own.neighborSubtask, 'of another card': own.subtaskOfNeighbor, itself: own.subtask }),
  label: () => ({ applied: own.applied, 'not applied': own.label }),
  attachment: () => ({
    image: own.image.id,
    text: own.text.id,
    secret: own.secretImage.id,
    'of another card': own.imageOfNeighbor.id,
  }),
  file: () => ({ attached: own.image.file_id, 'of another card': own.imageOfNeighbor.file_id, secret: own.secretOfNeighbor.file_id }),
  user: () => ({ creator: ann.id, member: bob.id, 'without access': dan.id, left: eve.id, 'of another workspace': stranger.id }),
}
/** Texts that are not the id of any resource. */
const strange = {
  'in upper case': 'BRD_00000000000000000000',
  'a null byte': 'brd_\0',
  'very long': 'x'.repeat(100),
  'a property of the prototype': '__proto__',
}
/** The same kind elsewhere, or not at all. */
function elsewhere(kind: Kind): Readonly<Record<string, string>> {
  const absent = {
    absent: `${PREFIX[kind]}_00000000000000000000`,
    malformed: 'nonsense',
    'of another kind': own.comment,
    'a path': '../boards',
  }
  if (kind === 'user') return absent
  const of = (content: Content) => (kind === 'file' ? content.image.file_id : kind === 'attachment' ? content.image.id : content[kind])
  return { 'of a readable board': of(readable), 'of a hidden board': of(hidden), 'of another workspace': of(foreign), ...absent }
}

type Outcome = 'ok' | 403 | 404 | 409 | 422
/**
 * What the creator of the board is answered for what is on it. Written by hand. Everything elsewhere is 404, unless it is stated here.
 */
const expected: Readonly<Record<string, Readonly<Record<string, Outcome>>>> = {
  'board_members.add user_id': { creator: 'ok', member: 'ok', 'without access': 'ok', left: 404, 'of another workspace': 404 },
  'board_members.remove user_id': { creator: 409, member: 'ok', 'without access': 404, left: 404, 'of another workspace': 404 },
  'columns.create before, after': { another: 'ok', archived: 'ok', itself: 'ok' },
  'columns.move before, after': { another: 'ok', archived: 'ok', itself: 422 },
  'cards.create column_id': { another: 'ok', archived: 409, itself: 'ok' },
  'cards.create label_ids': { applied: 'ok', 'not applied': 'ok' },
  'cards.create blocker_ids': { neighbor: 'ok', 'in another column': 'ok', archived: 'ok', itself: 'ok' },
  'cards.create assignee_ids': { creator: 'ok', member: 'ok', 'without access': 404, left: 404, 'of another workspace': 404 },
  'cards.create before, after': { neighbor: 'ok', 'in another column': 409, archived: 409, itself: 'ok' },
  'claims.take_next column_id': { another: 'ok', archived: 'ok', itself: 'ok' },
  'claims.take_next label_id': { applied: 'ok', 'not applied': 'ok' },
  'cards.move column_id': { another: 'ok', archived: 409, itself: 'ok' },
  'cards.move before, after': { neighbor: 'ok', 'in another column': 'ok', archived: 409, itself: 422 },
  'cards.assign user_id': { creator: 'ok', member: 'ok', 'without access': 404, left: 404, 'of another workspace': 404 },
  'cards.unassign user_id': { creator: 'ok', member: 404, 'without access': 404, left: 404, 'of another workspace': 404 },
  'cards.apply_label label_id': { applied: 'ok', 'not applied': 'ok' },
  'cards.remove_label label_id': { applied: 'ok', 'not applied': 404 },
  'blockers.add blocker_id': { neighbor: 'ok', 'in another column': 'ok', archived: 'ok', itself: 409 },
  'blockers.remove blocker_id': { neighbor: 404, 'in another column': 404, archived: 404, itself: 404 },
  'cards.set_cover attachment_id': { image: 'ok', text: 409, secret: 'ok', 'of another card': 404 },
  'subtasks.create before, after': { neighbor: 'ok', 'of another card': 404, itself: 'ok' },
  'subtasks.update before, after': { neighbor: 'ok', 'of another card': 404, itself: 422 },
  'attachments.attach file_id': { attached: 409, 'of another card': 'ok', secret: 'ok', 'of a readable board': 'ok' },
}

/** The name of an id in the body or behind the first one of the path, and what it names. */
interface Name {
  readonly row: Operation
  readonly name: string
  readonly inPath: boolean
  readonly kind: Kind
}

const titleOf = ({ row, name }: Name) => `${row.id} ${name.replace(/^(before|after)$/, 'before, after')}`
const allNames: readonly Name[] = operations.flatMap((row) => {
  const inPath = namesInPath(row.path).slice(1)
  // Ids of notices that the caller does not have are ignored: nothing is decided about them.
  const inBody = Object.entries(shapeOf(row)).flatMap(([name, schema]) => (isIdMember(schema) && row.id !== 'notices.mark' ? name : []))
  return [...inPath, ...inBody].map((name) => ({ row, name, inPath: inPath.includes(name), kind: kindOf(row, name) }))
})

function kindOf({ id }: Operation, name: string): Kind {
  if (name === 'before' || name === 'after') return id.split('.')[0]!.slice(0, -1) as Kind
  if (name.startsWith('blocker_id')) return 'card'
  return name === 'assignee_ids' ? 'user' : (name.replace(/_ids?$/, '') as Kind)
}

/** The answer to a name that cannot be used: what names it in the errors. */
const parameterOf = ({ name }: Name): string =>
  ({ assignee_ids: 'user_id', label_ids: 'label_id', blocker_ids: 'blocker_id' })[name] ?? name

/** Other members that a body needs. */
const needed: Readonly<Record<string, () => object>> = {
  'columns.create': () => ({ name: 'New' }),
  'cards.create': () => ({ title: 'New', column_id: own.column }),
  'subtasks.create': () => ({ title: 'New' }),
}

interface Asked {
  readonly params: Readonly<Record<string, string>>
  readonly body: object | undefined
}

function askedOf({ row, name, inPath }: Name, id: string): Asked {
  const ids = { board_id: own.board.id, column_id: own.column, card_id: own.card, subtask_id: own.subtask }
  const [first] = namesInPath(row.path) as [keyof typeof ids]
  const params = { [first]: ids[first], ...(inPath && { [name]: id }) }
  if (inPath) return { params, body: undefined }
  return { params, body: { ...needed[row.id]?.(), [name]: name.endsWith('_ids') ? [id] : id } }
}

/** The answers that are decided before the operation runs. */
type Decided = { readonly decision: boolean; readonly [member: string]: unknown }

function refusal({ code, message, reason = message, parameter, row, required_scope, granted_scopes }: any): Decided {
  return { decision: false, code, reason, parameter, row, ...(granted_scopes && { required_scope, granted_scopes }) }
}
// An evaluation says nothing of conflicts.
const decidedBy = ({ status, body }: Reply) => (status < 300 || status === 409 ? { decision: true } : refusal(body.error))
const evaluated = ({ decision, context }: any): Decided => (decision === true ? { decision } : refusal(context))

function operate({ row }: Name, token: string, { params, body }: Asked): Promise<Reply> {
  const path = row.path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params[name]!))
  return service.send(token, row.method, `${path}?dry_run=true`, body)
}

/** The ways to ask the question: with the ids as properties of the resource, or with the body as properties of the action. */
function questionsOf({ row, inPath }: Name, { params, body }: Asked): object[] {
  const { id, path } = row
  const question = questionOf({ id, path }, params, body)
  return inPath ? [question] : [question, questionOf({ id, path }, params, {}, body)]
}

test('every id that an operation takes after the first one of its path has its expected answers', () => {
  expect([...new Set(allNames.map(titleOf))].toSorted()).toEqual(Object.keys(expected).toSorted())
})

describe('a resource that a request names in addition to its target', () => {
  test.each(allNames.map((name) => [`${name.row.id} ${name.name}`, name] as const))(
    '%s is decided alike by the operation, by an evaluation and by a batch',
    async (_title, name) => {
      service.store.touched.length = 0
      const relations = { ...elsewhere(name.kind), ...related[name.kind]() }
      const callers = { creator: ann.admin, 'creator with the scope of reads': ann.read, 'creator with another scope': ann.none }
      const others = { member: bob.admin, 'member with the scope of writes': bob.write, 'without access': dan.admin }
      for (const [caller, token] of Object.entries({ ...callers, ...others })) {
        const all: object[] = []
        const notFound = new Set<string>()
        const decisions: Decided[] = []
        for (const [relation, id] of Object.entries({ ...relations, ...(caller === 'creator' && strange) })) {
          const asked = askedOf(name, id)
          const reply = await operate(name, token, asked)
          const operated = decidedBy(reply)
          if (caller === 'creator') {
            const outcome = expected[titleOf(name)]![relation] ?? 404
            expectEqual([relation, reply.status < 300 ? 'ok' : reply.status], [relation, outcome])
            if (outcome === 404) {
              expectEqual([relation, reply.body.error.parameter], [relation, parameterOf(name)])
              notFound.add(bytes(reply))
            }
          }
          // The second form of a question is read before anything is decided, so one caller is enough.
          for (const question of questionsOf(name, asked).slice(0, caller === 'creator' ? 2 : 1)) {
            const { status, body } = await service.send(token, 'POST', '/access/evaluation', question)
            // A token without a scope of the service can ask nothing.
            if (caller === 'creator with another scope') expectEqual([status, operated.code], [403, 'insufficient_scope'])
            else expectEqual([caller, relation, status, evaluated(body.data)], [caller, relation, 200, operated])
            all.push(question)
            decisions.push(operated)
          }
          if (isBatchable(name.row) && token !== ann.none && token !== ann.read && token !== dan.admin)
            await compareWithBatch(name, token, asked, reply)
        }
        // Whatever is wrong with an id, the response is the same.
        expectEqual(notFound.size, caller === 'creator' ? 1 : 0)
        if (caller === 'creator with another scope') continue
        // Together they are answered as alone: what one of them names does not count for another.
        const { body } = await service.send(token, 'POST', '/access/evaluations', { evaluations: all })
        expectEqual(body.data.evaluations.map(evaluated), decisions)
      }
      // What cannot be an id is not looked for, except by a filter.
      const isLookedFor = service.store.touched.some((key) => key.includes('nonsense'))
      expectEqual(isLookedFor, name.row.id === 'claims.take_next')
    },
  )
})

async function compareWithBatch({ row }: Name, token: string, { params, body }: Asked, alone: Reply): Promise<void> {
  const operation = { operation: row.id, params, ...(body && { body }) }
  const path = `/boards/${own.board.id}/batch?dry_run=true`
  const reply = await service.send(token, 'POST', path, { operations: [operation] })
  // What needs more than the scope of a batch is refused there.
  if (row.needs[1] === 'BoardMember') return expectEqual(reply.status, 422)
  const refusalOf = ({ status, body: { error } }: Reply) =>
    status < 300 ? 'ok' : [status, error.code, status === 422 ? undefined : error.parameter, error.row]
  expectEqual(refusalOf(reply), refusalOf(alone))
}
