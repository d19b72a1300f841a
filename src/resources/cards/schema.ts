import { z } from 'zod'
import { booleanParameter, NO_CURSOR, pageQuery, timeParameter, wordsParameter } from '../../listing/pages.ts'
import { onePlacement, place } from '../../listing/placement.ts'
import { card, externalRef, outcomes } from '../../model/card.ts'
import { claim } from '../../model/claim.ts'
import { work, workStates } from '../../model/work.ts'
import { documented, givenIdField, refuseRepetitions, userIdField, OWN_ID } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'
import { atMost, line, prose, time } from '../../model/text.ts'
import { timedSorts } from '../../store/indexes.ts'
import { countsShape } from '../counts.ts'
import { includeParameter, listed } from '../included.ts'
import { hasWords } from './words.ts'
import { subtaskOfNewCard } from '../subtasks/operations.ts'
import { idPattern, idPrefixes, isId, type IdKind } from '../../model/ids.ts'

/**
 * A query parameter that is an id. A malformed one is refused: a list that ignores the parameter would be mistaken for an answer
 * (src/http/README.md, "Filters and reports").
 * @param words what it can be instead of an id
 */
function idParameter(kind: IdKind, description: string, ...words: readonly string[]) {
  const error = `must be ${words.map((word) => `${word}, or `).join('')}the id of a ${kind}, which begins with ${idPrefixes[kind]}_`
  const schema = z.string().refine((text) => words.includes(text) || isId(kind, text), error)
  const pattern = words.length === 0 ? idPattern(kind) : `^(?:${[...words, idPattern(kind).slice(1, -1)].join('|')})$`
  return documented(schema, { description, pattern, minLength: Math.min(24, ...words.map(({ length }) => length)), maxLength: 24 })
}

/** The most ids that a filter can have. */
export const MAX_IDS = 20

/**
 * A query parameter that lists ids, with commas between them: what is wanted is one of them. One that is given twice counts once.
 * @param words what can be among them instead of an id
 */
function idsParameter(kind: IdKind, description: string, ...words: readonly string[]) {
  const one = idParameter(kind, '', ...words)
  const { description: _, ...items } = { type: 'string', ...z.globalRegistry.get(one) }
  const schema = z.string().transform((text, context): readonly string[] => {
    const ids = [...new Set(text.split(','))]
    if (ids.length > MAX_IDS) context.addIssue(`must have at most ${MAX_IDS} ids`)
    const wrong = ids.map((id) => one.safeParse(id)).find(({ success }) => !success)
    if (wrong !== undefined) context.addIssue(wrong.error!.issues[0]!.message)
    return ids
  })
  return documented(schema, { description, parameter: { type: 'array', items, minItems: 1, maxItems: MAX_IDS } })
}

/**
 * A query parameter that is the id of a user. `me` stands for the caller's own, and was replaced before it is validated.
 * @param words what else it can be
 */
function userIdParameter(description: string, ...words: readonly string[]) {
  return idParameter('user', `${description} \`me\` is the user of the token.`, OWN_ID, ...words)
}

const title = line(limits.cardTitle, 'The title of the card.')
const description = prose(limits.cardDescription, 'The text of the card.')
const external_ref = externalRef.nullable()
const due_at = documented(time.nullable(), {
  description: 'When the card is due; null: at no time. Any offset is accepted. The answer is in UTC.',
})

/** Ids in an order, none twice. */
function uniqueIds(id: z.ZodString, maxItems: number, description: string) {
  const ids = z.array(id).max(maxItems).superRefine(refuseRepetitions)
  return documented(ids.default([]), { description, maxItems, uniqueItems: true })
}

export const cardCreate = onePlacement(
  z.strictObject({
    column_id: givenIdField('column', 'The column of the new card. It must be an active column of the board.'),
    title,
    description: description.default(''),
    external_ref: external_ref.default(null),
    due_at: due_at.default(null),
    label_ids: uniqueIds(
      givenIdField('label', 'The id of a label.'),
      limits.labelsPerCard,
      'The labels of the card. They must be labels of the board.',
    ),
    assignee_ids: uniqueIds(
      userIdField('The id of a user.'),
      limits.assigneesPerCard,
      'The users who are assigned to the card. They must have access to the board.',
    ),
    blocker_ids: uniqueIds(
      givenIdField('card', 'The id of a card.'),
      limits.blockersPerCard,
      'The blockers of the card. They must be cards of the board.',
    ),
    subtasks: documented(z.array(subtaskOfNewCard).max(limits.subtasksPerCard).default([]), {
      description: 'The subtasks of the card in their order: the title of each, or an object with its title and whether it is completed.',
    }),
    ...place,
  }),
)
export const cardUpdate = z.strictObject({ title, description, external_ref, due_at }).partial()
const destination = givenIdField('column', 'The column to move the card to; by default the column of `before` or `after`, else its own.')
export const cardMove = onePlacement(z.strictObject({ column_id: destination.optional(), ...place })).refine(
  (body) => Object.keys(body).length > 0,
  'must have at least one of column_id, before, after, to',
)
export const cardCompletion = z
  .strictObject({
    completed: documented(z.boolean(), { description: 'Whether the card is completed.' }),
    outcome: documented(z.enum(outcomes).nullable(), {
      description:
        'How it is completed; by default, or with null, `succeeded`. One that has `failed` still blocks the cards whose blocker it is. Of a card that is completed, it replaces the outcome.',
    }).optional(),
  })
  .refine(({ completed, outcome }) => completed || outcome == null, {
    path: ['outcome'],
    error: 'must be null or absent if completed is false',
  })
export const cardCover = z.strictObject({
  attachment_id: givenIdField('attachment', 'An attachment of this card whose `content_type` begins with `image/`.'),
})

/** A card, with its claim and its work if the query asks for them. */
export const cardWithClaim = documented(
  card.extend({
    claim: documented(claim.nullable(), {
      description: 'The claim of the card; null if nobody holds it. Only with `include=claim`.',
    }).optional(),
    work: documented(work.optional(), { description: 'Only with `include=work`.' }),
  }),
  { id: 'CardWithClaim', description: 'A card, with its claim and its work if the request asks for them.' },
)

/** A card, with counts if the query asks for them. */
export const cardWithCounts = documented(cardWithClaim.extend(countsShape('subtasks', 'comments', 'attachments')), {
  id: 'CardWithCounts',
  description: 'A card, with counts, its claim and its work if the request asks for them.',
})

/** A card of a list of one board. */
export const listedCardOfBoard = listed(cardWithCounts)
/** A card of a list of all boards. */
export const listedCard = listed(cardWithClaim)

/** In place of the id of a label or an assignee: cards without one. */
export const NONE = 'none'

const filters = {
  column_id: idsParameter('column', 'Only cards of one of these columns.').optional(),
  assignee_id: idsParameter(
    'user',
    'Only cards that one of these users is assigned to. `none`: cards without an assignee. `me` is the user of the token.',
    OWN_ID,
    NONE,
  ).optional(),
  label_id: idsParameter('label', 'Only cards with one of these labels. `none`: cards without a label.', NONE).optional(),
  completed: booleanParameter.describe('Only cards that are completed, or only those that are not.').optional(),
  ready: booleanParameter
    .describe('Only cards that are ready, or only the others. Ready: the state of their work is `ready`, and their column is active.')
    .optional(),
  work_state: documented(wordsParameter(workStates).optional(), {
    description: 'Only cards whose work has one of these states (see `Work`).',
  }),
  archived: booleanParameter
    .describe('Whether to list the archived cards instead of the active ones. The cards of an archived column are archived.')
    .default(false),
  q: documented(
    z.string().trim().min(1, { error: 'must not be blank', abort: true }).check(atMost(limits.searchText)).refine(hasWords, 'has no word'),
    {
      description:
        'Only cards that have all of these words, in any order, in the title or the description. Case and accents do not matter, and ß is ss. A word also finds longer ones that contain it. Words in double quotes must follow each other, with any white space between them.',
      maxLength: limits.searchText,
      pattern: '\\S',
    },
  ).optional(),
}

/** The newest filter is the last parameter: some generated clients take parameters by their places. */
const byRef = {
  external_ref: documented(line(limits.externalRef), {
    description: 'Only the card with this `external_ref`: a board has at most one.',
  }).optional(),
}

/** The query of cards.list. All filters that are given must match. */
export const cardListQuery = z.strictObject({
  ...pageQuery('cards.list'),
  ...filters,
  ...includeParameter('counts', 'claim', 'work', 'etag'),
  ...byRef,
})

/** The orders in which cards of all boards are listed. */
const cardSorts = ['position', ...timedSorts] as const
type CardSort = (typeof cardSorts)[number]
interface Sorted {
  readonly sort: CardSort
  readonly order?: 'asc' | 'desc' | undefined
}

/** Whether a query of cards.search lists cards in descending order: by default, what was done last or is due next comes first. */
export function isDescending({ sort, order }: Sorted): boolean {
  return order === undefined ? sort !== 'position' && sort !== 'due_at' : order === 'desc'
}

/** The members of a query of cards.search that only completed cards match. */
const completionFilters = ['completed_after', 'completed_before', 'completed_by'] as const
type CompletionFilters = { readonly [name in (typeof completionFilters)[number]]?: string | undefined }

/** The members of a query of cards.search that bound a time. */
const ranges = [
  ['due_after', 'due_before'],
  ['completed_after', 'completed_before'],
] as const

/** Whether only completed cards can match a query of cards.search. */
function isAboutCompletion(query: Sorted & CompletionFilters): boolean {
  return query.sort === 'completed_at' || completionFilters.some((name) => query[name] !== undefined)
}

/** What the positions of a query of cards.search begin with: a cursor belongs to one order. */
export function searchOrder(query: Sorted): string {
  return `${query.sort} ${isDescending(query) ? 'desc' : 'asc'} `
}

/** The query of cards.search. All filters that are given must match. */
export const cardSearchQuery = z
  .strictObject({
    ...pageQuery('cards.search'),
    board_id: idParameter('board', 'Only cards of this board.').optional(),
    ...filters,
    blocker_id: idParameter('card', 'Only cards that have this card as a blocker.').optional(),
    due_before: timeParameter('Only cards that are due before this time.').optional(),
    due_after: timeParameter('Only cards that are due at this time or later.').optional(),
    completed_before: timeParameter('Only cards that were completed before this time.').optional(),
    completed_after: timeParameter('Only cards that were completed at this time or later.').optional(),
    completed_by: userIdParameter('Only cards that this user has completed.').optional(),
    ...includeParameter('claim', 'work', 'etag'),
    sort: documented(z.enum(cardSorts, { error: `must be one of ${cardSorts.join(', ')}` }).default('updated_at'), {
      description:
        'What the cards are sorted by. `position`: board by board, the oldest first, and each as GET /boards/{board_id}/cards lists it. `due_at`: cards without a due time follow all others. `completed_at`: only completed cards are listed.',
    }),
    order: documented(z.enum(['asc', 'desc'], { error: 'must be asc or desc' }).optional(), {
      description: 'The direction; by default `asc` for `due_at` and `position`, and `desc` for the others.',
    }),
    ...byRef,
  })
  .check(({ value, issues }) => {
    if (value.cursor !== undefined && !value.cursor.startsWith(searchOrder(value)))
      issues.push({ code: 'custom', input: value, path: ['cursor'], message: NO_CURSOR })
    for (const [after, before] of ranges) {
      const [from, to] = [value[after], value[before]]
      if (from === undefined || to === undefined || from < to) continue
      issues.push({ code: 'custom', input: value, path: [before], message: `must be later than ${after}` })
    }
    if (value.completed !== false || !isAboutCompletion(value)) return
    const message = 'must be true or absent beside sort=completed_at, completed_after, completed_before and completed_by'
    issues.push({ code: 'custom', input: value, path: ['completed'], message })
  })
  .transform((query) => (isAboutCompletion(query) ? { ...query, completed: true } : query))
export type CardSearchQuery = z.output<typeof cardSearchQuery>
