import { encodeCursor } from '../../listing/pages.ts'
import { operation } from '../operation.ts'
import { evaluation, evaluationResult, evaluationResults, evaluations, type Evaluation } from './schema.ts'
import {
  ACCESS,
  actionSearch,
  foundActions,
  foundResources,
  foundSubjects,
  listOfActions,
  listOfResources,
  listOfSubjects,
  pageOf,
  resourceSearch,
  subjectSearch,
  type Found,
} from './search-schema.ts'

const ABOUT_A_BOARD = {
  subject: { type: 'user', id: 'me' },
  action: { name: 'boards.update', properties: { name: 'Summer release' } },
  resource: { type: 'board', id: '{board_id}' },
}

/** Questions about permissions, in the shape of OpenID AuthZEN 1.0 (row X3). They change nothing, so they are reads. */
export const accessOperations = [
  operation({
    id: 'access.evaluate',
    method: 'POST',
    path: '/access/evaluation',
    isRead: true,
    summary: 'Tells whether the calling token may perform an operation, and if not, why.',
    needs: ['read', 'Access'],
    row: 'X3',
    body: evaluation,
    data: evaluationResult,
    example: { body: ABOUT_A_BOARD },
    async run(request) {
      const [result] = await request.use(ACCESS).evaluate([{ asked: request.body, path: '' }], 'execute_all')
      return { data: result! }
    },
  }),

  operation({
    id: 'access.evaluate_all',
    method: 'POST',
    path: '/access/evaluations',
    isRead: true,
    summary: 'Tells which of several operations the calling token may perform. All are decided on one state of the data.',
    needs: ['read', 'Access'],
    row: 'X3',
    body: evaluations,
    data: evaluationResults,
    example: {
      body: {
        subject: ABOUT_A_BOARD.subject,
        resource: ABOUT_A_BOARD.resource,
        evaluations: [{ action: { name: 'boards.read' } }, { action: { name: 'boards.delete' } }],
      },
    },
    async run(request) {
      const { evaluations: asked, options, ...defaults } = request.body
      // The schema requires that each question is complete with the defaults.
      const questions = asked.map((one, i) => ({ asked: { ...defaults, ...one } as Evaluation, path: `evaluations.${i}.` }))
      const semantic = options?.evaluations_semantic ?? 'execute_all'
      return { data: { evaluations: await request.use(ACCESS).evaluate(questions, semantic) } }
    },
  }),

  operation({
    id: 'access.search_action',
    method: 'POST',
    path: '/access/search/action',
    isRead: true,
    summary: 'Lists what the calling token may do on a resource, such as a board.',
    needs: ['read', 'Access'],
    row: 'X3',
    body: actionSearch,
    data: foundActions,
    example: { body: { resource: ABOUT_A_BOARD.resource } },
    async run(request) {
      const { page, ...asked } = request.body
      const list = listOfActions(asked.resource.type)
      return { data: toPage(list, await request.use(ACCESS).findActions(asked, pageOf(list, page))) }
    },
  }),

  operation({
    id: 'access.search_resource',
    method: 'POST',
    path: '/access/search/resource',
    isRead: true,
    summary: 'Lists the boards that the calling token may perform an operation on, oldest first.',
    needs: ['read', 'Access'],
    row: 'X3',
    body: resourceSearch,
    data: foundResources,
    example: { body: { action: { name: 'boards.delete' }, resource: { type: 'board' }, page: { limit: 1 } } },
    async run(request) {
      const { page, ...asked } = request.body
      const list = listOfResources(asked.action.name)
      return { data: toPage(list, await request.use(ACCESS).findResources(asked, pageOf(list, page))) }
    },
  }),

  operation({
    id: 'access.search_subject',
    method: 'POST',
    path: '/access/search/subject',
    isRead: true,
    summary: 'Lists the members who may perform an operation on a resource, in the order in which they joined.',
    needs: ['read', 'MemberAccess'],
    row: 'X3',
    body: subjectSearch,
    data: foundSubjects,
    example: { body: { action: { name: 'boards.delete' }, resource: ABOUT_A_BOARD.resource } },
    async run(request) {
      const { page, ...asked } = request.body
      const list = listOfSubjects(asked.action.name)
      return { data: toPage(list, await request.use(ACCESS).findSubjects(asked, pageOf(list, page))) }
    },
  }),
]

/** A page of results, in the shape of AuthZEN. */
export function toPage<Item>(list: string, { items, next }: Found<Item>) {
  return { page: { next_token: next === undefined ? '' : encodeCursor(list, next), count: items.length }, results: [...items] }
}
