import type { OperationPermission, DeniedGroup, MemberGroup } from './answer-groups.ts'
import type { Dependence } from '../../policy/explain.ts'
import { noIo, runOnStorage, type CommonOptions } from '../command.ts'
import { table, cell, painter } from '../text.ts'
import { describeTerms, type Paint, describeResponse } from './explanation-text.ts'
import { readNamed, readServiceScope } from './explain-flags.ts'

interface WhatCanFlags extends CommonOptions {
  readonly workspace: string
  readonly scope: string
}

/** Prints what a member may do. */
export async function printWhatCan(user: string, board: string | undefined, flags: WhatCanFlags): Promise<void> {
  const question = { workspace: flags.workspace, user, board, scope: readServiceScope(flags.scope) }
  const result = (await runOnStorage(flags, 'policy.what-can', question, noIo)) as { readonly operations: readonly OperationPermission[] }
  console.log(flags.json === true ? JSON.stringify(result) : renderOperations(result.operations, painter(process.stdout)))
}

const TITLES: Readonly<Record<OperationPermission['answer'], string>> = {
  allowed: 'allowed',
  depends: 'allowed in some cases',
  needs_scope: 'allowed with another scope only',
  denied: 'denied',
}

function renderOperations(operations: readonly OperationPermission[], { bold, green, red }: Paint): string {
  return (Object.keys(TITLES) as OperationPermission['answer'][])
    .flatMap((answer) => {
      const group = operations.filter((one) => one.answer === answer)
      if (group.length === 0) return []
      const paint = answer === 'denied' ? red : green
      return [paint(bold(`${TITLES[answer]} (${group.length})`)), ...table(group.map((one) => [`  ${one.operation}`, ...detailsOf(one)]))]
    })
    .join('\n')
}

function detailsOf({ required_scope, row, reason, answers = [], further, code }: OperationPermission): string[] {
  const items = further.map((one) => `; for each of ${one.member}: ${casesOf(one.answers) ?? 'denied'}`)
  return [required_scope ?? 'web app', row, code ?? '', `${casesOf(answers) ?? reason}${items.join('')}`]
}

/** The cases where the answers allow it; undefined if none does. */
function casesOf(answers: readonly Dependence[]): string | undefined {
  const cases = answers.find(({ answer }) => answer === 'allowed')?.cases
  if (cases === undefined) return undefined
  return cases.some((terms) => terms.length === 0) ? 'allowed' : `if ${cases.map(describeTerms).join('; or if ')}`
}

interface WhoCanFlags extends CommonOptions {
  readonly workspace: string
  readonly with?: string
  readonly fields?: string
}

interface WhoCan {
  readonly operation: string
  /** null: only the web app does it */
  readonly required_scope: string | null
  readonly allowed: readonly MemberGroup[]
  readonly denied: readonly DeniedGroup[]
}

/** Prints who may do something. */
export async function printWhoCan(operation: string, resource: string | undefined, flags: WhoCanFlags): Promise<void> {
  const question = { workspace: flags.workspace, operation, resource, ...readNamed(flags) }
  const result = (await runOnStorage(flags, 'policy.who-can', question, noIo)) as WhoCan
  console.log(flags.json === true ? JSON.stringify(result) : renderMembers(result, painter(process.stdout)))
}

function renderMembers({ operation, required_scope, allowed, denied }: WhoCan, { bold, dim, green, red }: Paint): string {
  const memberLines = (members: MemberGroup['members']) =>
    members.map(({ user_id, display_name, role }) => `  ${cell(display_name)}  ${dim(`${role}  ${user_id}`)}`)
  return [
    required_scope === null
      ? `${bold(operation)} is done in the web app, by a person who is signed in`
      : `${bold(operation)} requires a token with ${bold(required_scope)}`,
    ...allowed.flatMap(({ rules, members }) => [
      ...rules.map(({ id, reason }) => `${green('allowed')} by ${id}: ${reason}`),
      ...memberLines(members),
    ]),
    ...denied.flatMap(({ response, reason, members }) => [
      `${red('denied')} with ${describeResponse(response)}: ${reason}`,
      ...memberLines(members),
    ]),
  ].join('\n')
}
