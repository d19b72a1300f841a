import { operation } from '../operation.ts'
import { evaluation, evaluationResult, evaluationResults, evaluations, type Evaluation } from './schema.ts'

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
    async run({ body, evaluate }) {
      const [result] = await evaluate([{ asked: body, path: '' }], 'execute_all')
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
    async run({ body: { evaluations: asked, options, ...defaults }, evaluate }) {
      // The schema requires that each question is complete with the defaults.
      const questions = asked.map((one, i) => ({ asked: { ...defaults, ...one } as Evaluation, path: `evaluations.${i}.` }))
      return { data: { evaluations: await evaluate(questions, options?.evaluations_semantic ?? 'execute_all') } }
    },
  }),
]
