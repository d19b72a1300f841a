import { ConfigError } from '../../config.ts'
import type { StoredAnswer } from '../../resources/explanation.ts'
import { webActions } from '../../resources/web-actions.ts'
import { noIo, runOnStorage } from '../command.ts'
import { Failure } from '../exit.ts'
import { painter } from '../text.ts'
import { describeResponse, renderDependence, renderExplanation } from './explanation-text.ts'
import { readPairs, readServiceScope, refuseTokenOptions, splitList, type ExplainFlags } from './fact-options.ts'

/**
 * Explains a decision about stated facts or a stored workspace.
 * @throws {Failure} `denied`
 */
export async function printExplanation(flags: ExplainFlags): Promise<void> {
  const result = flags.as === undefined ? await (await import('./explain-stated.ts')).explainStated(flags) : await explainStored(flags)
  const paint = painter(process.stdout)
  if (flags.json === true) console.log(JSON.stringify(result))
  else console.log('decision' in result ? renderExplanation(result, paint) : renderDependence(result, paint))
  if ('response' in result && !result.allowed) throw new Failure('denied', `denied: ${describeResponse(result.response)}`)
  const isDenied =
    !('response' in result) && [result, ...result.further].some(({ answers }) => answers.some(({ answer }) => answer !== 'allowed'))
  if (isDenied) throw new Failure('denied', 'denied in at least one case')
}

async function explainStored({ as: user, workspace, operation, resource, ...flags }: ExplainFlags): Promise<StoredAnswer> {
  for (const name of ['facts', 'any', 'policies'] as const)
    if (flags[name] !== undefined) throw new ConfigError(`--${name} is about stated facts, and has no effect with --as`)
  if (workspace === undefined) throw new ConfigError('--as needs --workspace: the id of the workspace of the user')
  const isInWebApp = webActions.some(({ id }) => id === operation)
  if (isInWebApp) refuseTokenOptions({ operation, ...flags, ...(resource !== undefined && { resource }) })
  const scope = isInWebApp ? undefined : readServiceScope(flags.scope)
  const fields = splitList(flags.fields)
  const named = Object.fromEntries(readPairs('with', flags.with))
  const question = {
    workspace,
    user,
    ...(scope !== undefined && { scope }),
    operation,
    resource,
    named,
    ...(fields.length > 0 && { fields }),
  }
  return (await runOnStorage(flags, 'policy.explain', question, noIo)) as StoredAnswer
}
