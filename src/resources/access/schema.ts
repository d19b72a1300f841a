import { z } from 'zod'
import { documented } from '../../model/fields.ts'
import { errors, type ErrorCode } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { scopes } from '../../model/token.ts'

// The shapes of the OpenID AuthZEN Authorization API 1.0, as members of the envelope.

/** Characters of a name or an id. Longer ones name nothing. */
const LONGEST = 100

export function text(description: string) {
  return documented(z.string().max(LONGEST), { description, maxLength: LONGEST })
}

/** The name of a member. */
const name = documented(z.string().max(LONGEST), { maxLength: LONGEST })

function properties(description: string) {
  return documented(z.record(name, z.unknown()), { description, maxProperties: LONGEST })
}

export const subject = documented(
  z.strictObject({
    type: documented(z.enum(['user', 'token']), { description: 'What the subject is.' }),
    id: text('`me`, or the id of your user or of this token: what others may do is not answered.'),
    properties: properties('Ignored: the service knows them.').optional(),
  }),
  { description: 'Who wants to act: the calling token.' },
)
export const action = documented(
  z.strictObject({
    name: text('The id of an operation, such as `cards.update`.'),
    properties: properties(
      'Members of its body. Their names matter where the policy decides by member (`boards.update`); by default, all that the operation takes.',
    ).optional(),
  }),
  { description: 'What is to be done.' },
)
export const resource = documented(
  z.strictObject({
    type: text('What the first parameter of the path names, such as `card` for `{card_id}`; without one, `workspace`.'),
    id: text('Its id. The workspace can be called `me`.'),
    properties: properties(
      'The further parameters of the path, and the ids that the body names, by their names: `user_id`, `label_id`, `column_id`, `before` and so on.',
    ).optional(),
  }),
  { description: 'What is acted on.' },
)
export const context = properties('Ignored: the service reads all facts itself.').optional()

const question = z.strictObject({ subject, action, resource, context })

/** One question: may the calling token do this? */
export const evaluation = documented(question, {
  id: 'Evaluation',
  description: 'May the calling token do this?',
})

export const semantics = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'] as const

const QUESTION = ['subject', 'action', 'resource'] as const

/** Several questions. */
export const evaluations = documented(
  question
    .partial()
    .extend({
      evaluations: documented(z.array(question.partial()).min(1).max(limits.evaluations), {
        description: 'The questions. Members that one leaves out are taken from the members beside this list.',
        maxItems: limits.evaluations,
      }),
      options: documented(
        z.strictObject({
          evaluations_semantic: documented(z.enum(semantics).default('execute_all'), {
            description: 'Whether to answer all questions, or to stop after the first that is denied, or permitted.',
          }),
        }),
        { description: 'How the questions are answered.' },
      ).optional(),
    })
    .superRefine((body, context) => {
      for (const [i, one] of body.evaluations.entries())
        for (const name of QUESTION)
          if (one[name] === undefined && body[name] === undefined)
            context.addIssue({ code: 'custom', path: ['evaluations', i, name], message: 'is missing' })
    }),
  { id: 'Evaluations', description: 'May the calling token do these things? All are decided on one state of the data.' },
)

const scope = z.enum(scopes)

/** The answer to one question. */
export const evaluationResult = documented(
  z.strictObject({
    decision: documented(z.boolean(), {
      description: 'Whether the token and its user may do it. A conflict (409) or an invalid body (422) is still possible: see `dry_run`.',
    }),
    context: documented(
      z.strictObject({
        code: documented(z.enum(Object.keys(errors) as ErrorCode[]), {
          description: 'The error that the operation would answer. Absent if the decision is true.',
        }).optional(),
        reason: documented(z.string(), {
          description: 'The reason of the rule that decides, or the message of the error.',
          maxLength: 1000,
        }),
        required_scope: documented(scope, { description: 'The least scope that the operation requires.' }),
        granted_scopes: documented(z.array(scope), {
          description: 'With `insufficient_scope`: the scopes of the token, with those that they include.',
          maxItems: scopes.length,
        }).optional(),
        row: documented(z.string(), {
          description: 'The row of the specification that decides it. Absent with `not_found`.',
          pattern: '^[A-Z][0-9]+$',
          maxLength: 4,
        }).optional(),
        parameter: documented(z.string(), {
          description: 'With `not_found`: the name of the parameter or member that names the resource. Absent if `resource.id` names it.',
          maxLength: 64,
        }).optional(),
      }),
      { description: 'Why.' },
    ),
  }),
  {
    id: 'EvaluationResult',
    description: 'A decision. A resource that the user has no access to is answered like one that does not exist.',
  },
)

/** The answers, in the order of the questions. */
export const evaluationResults = documented(
  z.strictObject({
    evaluations: documented(z.array(evaluationResult), {
      description: 'The decisions, in the order of the questions, up to the one after which it stopped.',
      maxItems: limits.evaluations,
    }),
  }),
  { id: 'EvaluationResults', description: 'Decisions.' },
)

export type Evaluation = z.output<typeof evaluation>
export type EvaluationResult = z.output<typeof evaluationResult>
export type Semantic = (typeof semantics)[number]

/** A question, and its path in the body: with a dot at its end, or empty. */
export interface Question {
  readonly asked: Evaluation
  readonly path: string
}
