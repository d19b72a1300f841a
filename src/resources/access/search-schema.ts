import { z } from 'zod'
import { CURSOR, decodeCursor } from '../../listing/pages.ts'
import { documented, idField } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'
import { scopes } from '../../model/token.ts'
import { Ability } from '../operation.ts'
import { action, context, resource, subject, text, type EvaluationResult, type Question, type Semantic } from './schema.ts'

// The shapes of the search of the OpenID AuthZEN Authorization API 1.0 (§8), as members of the envelope.

const { max, default: usual } = limits.pageSize

const page = documented(
  z.strictObject({
    token: documented(z.string(), { ...CURSOR, description: '`page.next_token` of the previous page.' }).optional(),
    limit: documented(z.int().min(1).max(max).default(usual), { format: 'int32', description: 'The maximum number of results.' }),
  }),
  { description: 'Which results to return.' },
)
const searched = documented(
  z.strictObject({ type: resource.shape.type, id: text('Ignored.').optional(), properties: resource.shape.properties }),
  {
    description: 'The type of the resources: `board`. What else the operation names is in the properties, as in a question.',
  },
)

const searchedSubject = documented(
  z.strictObject({
    type: documented(z.literal('user'), { description: 'The type of the subjects.' }),
    id: text('Ignored.').optional(),
    properties: documented(
      z.strictObject({
        scope: documented(z.enum(scopes), {
          description: 'The scope of the token that each of them is assumed to have; by default, `kanban:admin`.',
        }).optional(),
      }),
      { description: 'What is assumed of them.' },
    ).optional(),
  }),
  { description: 'Who is searched for: members of the workspace.' },
)

/** Which operations may the calling token perform on this resource? */
export const actionSearch = documented(
  z
    .strictObject({ subject: subject.optional(), resource, context, page: page.optional() })
    .superRefine(requireOwnToken((body) => listOfActions(body.resource.type))),
  { id: 'ActionSearch', description: 'What may the calling token do on this resource?' },
)

/** Which resources may the calling token perform this operation on? */
export const resourceSearch = documented(
  z
    .strictObject({ subject: subject.optional(), action, resource: searched, context, page: page.optional() })
    .superRefine(requireOwnToken((body) => listOfResources(body.action.name))),
  { id: 'ResourceSearch', description: 'Which resources may the calling token do this on?' },
)

/** Which members may perform this operation on this resource? */
export const subjectSearch = documented(
  z
    .strictObject({ subject: searchedSubject.optional(), action, resource, context, page: page.optional() })
    .superRefine(requireOwnToken((body) => listOfSubjects(body.action.name))),
  { id: 'SubjectSearch', description: 'Which members may do this?' },
)

/** The list that a search goes through, which its tokens contain. A token of another one is refused (AuthZEN 1.0 §8.2). */
export function listOfActions(type: string): string {
  return `access.search_action ${type}`
}

/** The same of a search for resources. */
export function listOfResources(operation: string): string {
  return `access.search_resource ${operation}`
}

/** The same of a search for members. */
export function listOfSubjects(operation: string): string {
  return `access.search_subject ${operation}`
}

function requireOwnToken<Body extends { readonly page?: z.output<typeof page> | undefined }>(listOf: (body: Body) => string) {
  return (body: Body, { addIssue }: z.core.$RefinementCtx<Body>): void => {
    const token = body.page?.token
    if (token === undefined || decodeCursor(listOf(body), token) !== undefined) return
    addIssue({
      code: 'custom',
      path: ['page', 'token'],
      message: 'is not a token of this search: use page.next_token of its previous page',
    })
  }
}

const shownPage = documented(
  z.strictObject({
    next_token: documented(z.string(), {
      description: 'The `page.token` of the next page; empty on the last one.',
      maxLength: CURSOR.maxLength,
    }),
    count: documented(z.int(), { format: 'int32', description: 'The number of results of this page.', minimum: 0, maximum: max }),
  }),
  { description: 'Where the results continue.' },
)
const foundAction = documented(
  z.strictObject({
    name: documented(z.string(), { description: 'The id of an operation.', maxLength: 64 }),
    properties: documented(
      z.strictObject({
        requires: documented(z.array(documented(z.string(), { maxLength: 64 })), {
          description: 'What the operation must also name, and the search did not. The decision depends on it: ask again with it.',
          maxItems: 10,
        }),
      }),
      { description: 'Absent if everything is named that decides.' },
    ).optional(),
  }),
  { description: 'An operation that the token may perform.' },
)
const foundResource = documented(
  z.strictObject({
    type: documented(z.literal('board'), { description: 'Its type.' }),
    id: idField('board', 'Its id.'),
  }),
  { description: 'A resource that the token may do it on.' },
)
const foundSubject = documented(
  z.strictObject({
    type: documented(z.literal('user'), { description: 'Its type.' }),
    id: idField('user', 'The id of a member.'),
  }),
  { description: 'A member who may do it.' },
)

/** The operations that were found. */
export const foundActions = documented(
  z.strictObject({
    page: shownPage,
    results: documented(z.array(foundAction), { description: 'The operations, in the order of the documentation.', maxItems: max }),
  }),
  {
    id: 'FoundActions',
    description: 'Operations. A resource that the user has no access to is answered like one that does not exist: with no operations.',
  },
)

/** The resources that were found. */
export const foundResources = documented(
  z.strictObject({
    page: shownPage,
    results: documented(z.array(foundResource), { description: 'The boards, oldest first.', maxItems: max }),
  }),
  { id: 'FoundResources', description: 'Resources. The ones that the user has no access to are left out.' },
)

/** The members that were found. */
export const foundSubjects = documented(
  z.strictObject({
    page: shownPage,
    results: documented(z.array(foundSubject), { description: 'The members, in the order in which they joined.', maxItems: max }),
  }),
  { id: 'FoundSubjects', description: 'Members. About a resource that you have no access to, there are none.' },
)

export type ActionQuestion = Pick<z.output<typeof actionSearch>, 'subject' | 'resource'>
export type ResourceQuestion = Pick<z.output<typeof resourceSearch>, 'subject' | 'action' | 'resource'>
export type SubjectQuestion = Pick<z.output<typeof subjectSearch>, 'subject' | 'action' | 'resource'>
export type FoundAction = z.output<typeof foundAction>
export type FoundSubject = z.output<typeof foundSubject>
export type FoundResource = z.output<typeof foundResource>

/** Where a search begins, and how many results it returns. */
export interface SearchPage {
  readonly limit: number
  /** the position of the last resource that was found or passed */
  readonly after: string | undefined
}

/** What a search has found. */
export interface Found<Item> {
  readonly items: readonly Item[]
  /** the last position before others that may follow; undefined: none follow */
  readonly next: string | undefined
}

/** The page of a search that a body asks for. */
export function pageOf(list: string, { token, limit = usual }: Partial<z.output<typeof page>> = {}): SearchPage {
  return { limit, after: token === undefined ? undefined : decodeCursor(list, token) }
}

/** Decides what the caller may do, as the operations themselves would be decided. */
export interface Access {
  /** @throws {ApiError} `validation_failed` if a question names nothing that can be decided */
  evaluate(questions: readonly Question[], semantic: Semantic): Promise<EvaluationResult[]>
  /**
   * Finds what the caller may do on a resource.
   * @throws {ApiError} `validation_failed`
   */
  findActions(asked: ActionQuestion, page: SearchPage): Promise<Found<FoundAction>>
  /**
   * Finds the resources that the caller may do something on.
   * @throws {ApiError} `validation_failed`
   */
  findResources(asked: ResourceQuestion, page: SearchPage): Promise<Found<FoundResource>>
  /**
   * Finds the members who may do something on a resource.
   * @throws {ApiError} `validation_failed`
   */
  findSubjects(asked: SubjectQuestion, page: SearchPage): Promise<Found<FoundSubject>>
}

export const ACCESS = new Ability<Access>()
