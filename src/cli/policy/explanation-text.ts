import type { Change, ChangeSet } from '../../policy/changes.ts'
import type { Dependence } from '../../policy/dependence.ts'
import type { ExplainedRule, Explanation } from '../../policy/explain.ts'
import type { ExpectedResponse, FurtherExplanation, OperationDependence, OperationExplanation } from '../../resources/explanation.ts'
import { cell, type painter } from '../text.ts'

/** Functions that colour text. */
export type Paint = ReturnType<typeof painter>

/** An explanation for reading. */
export function renderExplanation(explanation: OperationExplanation, paint: Paint): string {
  const { operation, request, allowed, response, decision, further, notes } = explanation
  const verdict = `${allowed ? 'allowed' : 'denied'}: ${describeResponse(response)}`
  return [
    `${paint.bold(operation)}  ${paint.dim(request)}`,
    (allowed ? paint.green : paint.red)(verdict),
    ...(response.code === 'unauthorized' ? ['The membership has ended: no token of this user is accepted.'] : []),
    ...notes,
    '',
    ...renderDecision(decision, paint),
    ...further.flatMap((one) => ['', `${paint.bold('and for each of')} ${one.member}`, ...renderDecision(one, paint)]),
    ...renderAdvice(explanation, paint),
  ].join('\n')
}

/** Describes how an answer depends on facts that are not known. For a stored list: on each item. */
export function renderDependence(result: OperationDependence & { readonly response?: ExpectedResponse }, paint: Paint): string {
  const { operation, request, facts, answers, further, notes, response } = result
  const painted = response?.code === undefined ? paint.green : paint.red
  return [
    `${paint.bold(operation)}  ${paint.dim(request)}`,
    ...(response === undefined ? [] : [`${painted(describeResponse(response))}; each item of the list is decided on its own:`]),
    ...notes,
    `${paint.bold('given')}  ${Object.entries(facts).map(isWords).join(', ') || 'nothing'}`,
    ...renderAnswers(answers, paint),
    ...further.flatMap((one) => ['', `${paint.bold('and for each of')} ${one.member}`, ...renderAnswers(one.answers, paint)]),
  ].join('\n')
}

function renderAnswers(answers: readonly Dependence[], paint: Paint): string[] {
  return answers.flatMap(({ answer, cases }) => {
    const painted = (answer === 'allowed' ? paint.green : paint.red)(answer)
    return cases.map((terms) => `${painted} ${terms.length === 0 ? 'in every case' : `if ${describeTerms(terms)}`}`)
  })
}

/** The conditions of a case in words. */
export function describeTerms(terms: Dependence['cases'][number]): string {
  return terms.map(({ fact, values }) => `${fact} is ${values.join(' or ')}`).join(', and ')
}

/** A response in words. */
export function describeResponse({ status, code, parameter, leftOut }: ExpectedResponse): string {
  if (leftOut === true) return `${status}, and the item is left out of the list`
  return [status, code ?? 'ok', ...(parameter === undefined ? [] : [`because of ${parameter}`])].join(' ')
}

function renderDecision({ permission, scope, stage, facts }: Explanation, paint: Paint): string[] {
  const mark = (isYes: boolean) => (isYes ? paint.green('yes') : paint.red('no '))
  const ruleLine = (rule: ExplainedRule) => `${mark(rule.holds)} ${rule.id}: ${rule.reason}${describeUnmet(rule, paint)}`
  return [
    ...(scope === undefined
      ? []
      : [
          `${paint.bold('scope')}  ${permission} requires ${scope.required} (${scope.row}: "${scope.words}")`,
          `  ${mark(scope.allowed)} ${scope.rule}: ${scope.reason} The token has ${scope.granted}.`,
        ]),
    `${paint.bold('permission')}  ${permission} (${stage.row}: "${stage.words}")`,
    ...stage.definitions.flatMap(({ name, means, value, rules }) => [
      `  ${mark(value)} ${paint.bold(name)}: ${means}`,
      ...rules.map((rule) => `      ${ruleLine(rule)}`),
    ]),
    ...stage.rules.map((rule) => `  ${ruleLine(rule)}`),
    ...stage.refusedFields.map((field) => `  ${mark(false)} no rule allows to change ${field}`),
    `${paint.bold('facts')}  ${Object.entries(facts).map(isWords).join(', ')}`,
  ]
}

function isWords([name, value]: readonly [string, string]): string {
  return `${name} is ${cell(value)}`
}

function describeUnmet({ unmet }: ExplainedRule, { dim }: Paint): string {
  if (unmet.length === 0) return ''
  return dim(` (${unmet.map(({ name, value, wanted }) => `${name} is ${value}, not ${wanted.join(' or ')}`).join('; ')})`)
}

/** For a denial: what would allow it. */
function renderAdvice({ decision, further }: OperationExplanation, paint: Paint): string[] {
  const denied = [decision, ...further].filter(({ answer }) => answer !== 'allowed')
  return denied.flatMap((one) => {
    const about = denied.length > 1 ? ` ${(one as Partial<FurtherExplanation>).member ?? one.permission}` : ''
    const scope = one.scope === undefined ? [] : [`${paint.bold('required scope')}  ${one.scope.required}`]
    if (one.changes.length > 0)
      return [
        '',
        ...scope,
        `${paint.bold(`the smallest change that would allow${about || ' it'}`)}`,
        ...one.changes.map((set) => `  ${describeChanges(set)}`),
      ]
    const why = one.fixed.length > 0 ? `${one.fixed.join(' and ')} would have to differ, and cannot be changed` : 'no rule allows it'
    return ['', ...scope, `no change would allow${about || ' it'}: ${why}`]
  })
}

/** Changes in words: "caller.role owner or admin instead of member". */
function describeChanges(set: ChangeSet): string {
  return set.map(({ fact, from, to }: Change) => `${fact} ${to.join(' or ')} instead of ${from}`).join(', and ')
}
