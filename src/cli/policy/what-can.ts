import type { Command } from 'commander'
import type { OperationPermission } from './answer-groups.ts'
import type { Dependence } from '../../policy/dependence.ts'
import { noIo, runOnStorage, type CommonOptions } from '../command.ts'
import { table } from '../text.ts'
import { painter } from './colour.ts'
import { addStorage, scopeOf } from './explain.ts'
import { describeTerms, type Paint } from './explanation-text.ts'

interface WhatCanFlags extends CommonOptions {
  readonly workspace: string
  readonly scope: string
}

/** Adds `lanekeeper policy what-can`. */
export function addWhatCanCommand(policy: Command): void {
  const command = policy
    .command('what-can <user> [board]')
    .description('list what a member of a stored workspace may do in it, or on a board')
    .requiredOption('--workspace <workspace>', 'the id of the workspace')
    .option('--scope <scope>', 'the scope of the token: none, kanban:read, kanban:write or kanban:admin', 'kanban:admin')
  addStorage(command).action(printWhatCan)
}

async function printWhatCan(user: string, board: string | undefined, flags: WhatCanFlags): Promise<void> {
  const question = { workspace: flags.workspace, user, board, scope: await scopeOf(flags.scope) }
  const result = (await runOnStorage(flags, 'policy.what-can', question, noIo)) as { readonly operations: readonly OperationPermission[] }
  console.log(flags.json === true ? JSON.stringify(result) : render(result.operations, painter(process.stdout)))
}

const TITLES: Readonly<Record<OperationPermission['answer'], string>> = {
  allowed: 'allowed',
  depends: 'allowed in some cases',
  needs_scope: 'allowed with another scope only',
  denied: 'denied',
}

function render(operations: readonly OperationPermission[], { bold, green, red }: Paint): string {
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

/** The cases in which the answers allow it; undefined if none does. */
function casesOf(answers: readonly Dependence[]): string | undefined {
  const cases = answers.find(({ answer }) => answer === 'allowed')?.cases
  if (cases === undefined) return undefined
  return cases.some((terms) => terms.length === 0) ? 'allowed' : `if ${cases.map(describeTerms).join('; or if ')}`
}
