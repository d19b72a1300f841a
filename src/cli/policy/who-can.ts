import type { Command } from 'commander'
import type { DeniedGroup, MemberGroup } from './answer-groups.ts'
import { noIo, runOnStorage, type CommonOptions } from '../command.ts'
import { cell } from '../text.ts'
import { painter } from './colour.ts'
import { addStorage } from './explain.ts'
import { describeResponse, type Paint } from './explanation-text.ts'
import { readPairs, splitList } from './fact-options.ts'

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

/** Adds `lanekeeper policy who-can`. */
export function addWhoCanCommand(policy: Command): void {
  const command = policy
    .command('who-can <operation> [resource]')
    .description('list the members of a stored workspace who may do something, by the rule that decides')
    .requiredOption('--workspace <workspace>', 'the id of the workspace')
    .option('--fields <names>', 'the fields to change: name,name; default: all that the operation takes')
    .option('--with <ids>', 'what the operation names besides: label_id=ID,user_id=ID; a list has one for each item')
  addStorage(command).action(printWhoCan)
}

async function printWhoCan(operation: string, resource: string | undefined, flags: WhoCanFlags): Promise<void> {
  const fields = splitList(flags.fields)
  const named = Object.fromEntries(readPairs('with', flags.with))
  const question = { workspace: flags.workspace, operation, resource, named, ...(fields.length > 0 && { fields }) }
  const result = (await runOnStorage(flags, 'policy.who-can', question, noIo)) as WhoCan
  console.log(flags.json === true ? JSON.stringify(result) : render(result, painter(process.stdout)))
}

function render({ operation, required_scope, allowed, denied }: WhoCan, { bold, dim, green, red }: Paint): string {
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
