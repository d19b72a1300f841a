import type { ChangeSet } from '../../policy/changes.ts'
import type { Dependence, ExplainedRule, Explanation } from '../../policy/explain.ts'
import type { Facts } from '../../policy/evaluate.ts'
import type { ExpectedResponse, OperationDependence, OperationExplanation, StoredAnswer } from '../../resources/explanation.ts'
import { cell, type painter } from '../text.ts'

/** Functions that colour text. */
export type Paint = ReturnType<typeof painter>

/** An explanation for reading; of a list, and of facts that are not all stated: how the answer depends on the others. */
export function renderExplanation(result: StoredAnswer | OperationDependence, paint: Paint): string {
  const { bold, dim } = paint
  const { operation, request, notes } = result
  const further = result.further.flatMap((one) => [
    '',
    `${bold('and for each of')} ${one.member}`,
    ...('stage' in one ? renderDecision(one, paint) : renderAnswers(one.answers, paint)),
  ])
  return [
    `${bold(operation)}  ${dim(request)}`,
    ...('response' in result ? renderResponse(result, paint) : []),
    ...notes,
    ...('decision' in result
      ? ['', ...renderDecision(result.decision, paint), ...further, ...renderAdvice(result, paint)]
      : [`${bold('given')}  ${describeFacts(result.facts) || 'nothing'}`, ...renderAnswers(result.answers, paint), ...further]),
  ].join('\n')
}

function renderResponse(result: StoredAnswer, { green, red }: Paint): string[] {
  const { allowed, response } = result
  const words = describeResponse(response)
  const painted = allowed ? green : red
  if (!('decision' in result)) return [`${painted(words)}; each item of the list is decided on its own:`]
  const ended = response.code === 'unauthorized' ? ['The membership has ended: no token of this user is accepted.'] : []
  return [painted(`${allowed ? 'allowed' : 'denied'}: ${words}`), ...ended]
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

function renderDecision({ permission, scope, stage, facts }: Explanation, { bold, dim, green, red }: Paint): string[] {
  const mark = (isYes: boolean) => (isYes ? green('yes') : red('no '))
  const ruleLine = ({ id, holds, reason, unmet }: ExplainedRule) => {
    const missing = unmet.map(({ name, value, wanted }) => `${name} is ${value}, not ${wanted.join(' or ')}`)
    return `${mark(holds)} ${id}: ${reason}${holds ? '' : dim(` (${missing.join('; ')})`)}`
  }
  const ofScope = scope && [
    `${bold('scope')}  ${permission} requires ${scope.required} (${scope.row}: "${scope.words}")`,
    `  ${mark(scope.allowed)} ${scope.rule}: ${scope.reason} The token has ${scope.granted}.`,
  ]
  return [
    ...(ofScope ?? []),
    `${bold('permission')}  ${permission} (${stage.row}: "${stage.words}")`,
    ...stage.definitions.flatMap(({ name, means, value, rules }) => [
      `  ${mark(value)} ${bold(name)}: ${means}`,
      ...rules.map((rule) => `      ${ruleLine(rule)}`),
    ]),
    ...stage.rules.map((rule) => `  ${ruleLine(rule)}`),
    ...stage.refusedFields.map((field) => `  ${mark(false)} no rule allows to change ${field}`),
    `${bold('facts')}  ${describeFacts(facts)}`,
  ]
}

function describeFacts(facts: Facts): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name} is ${cell(value)}`)
    .join(', ')
}

/** For a denial: what would allow it. */
function renderAdvice({ decision, further }: OperationExplanation, { bold }: Paint): string[] {
  const denied = [{ ...decision, member: decision.permission }, ...further].filter(({ answer }) => answer !== 'allowed')
  return denied.flatMap(({ member, scope, changes, fixed }) => {
    const what = denied.length > 1 ? member : 'it'
    const required = scope === undefined ? [] : [`${bold('required scope')}  ${scope.required}`]
    const why = fixed.length > 0 ? `${fixed.join(' and ')} would have to differ, and cannot be changed` : 'no rule allows it'
    const advice =
      changes.length > 0
        ? [bold(`the smallest change that would allow ${what}`), ...changes.map((set) => `  ${describeChanges(set)}`)]
        : [`no change would allow ${what}: ${why}`]
    return ['', ...required, ...advice]
  })
}

/** Changes in words: "caller.role owner or admin instead of member". */
function describeChanges(set: ChangeSet): string {
  return set.map(({ fact, from, to }) => `${fact} ${to.join(' or ')} instead of ${from}`).join(', and ')
}
