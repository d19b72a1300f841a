import { ConfigError } from '../../config.ts'
import type { StoredAnswer } from '../../resources/explanation.ts'
import { webActions } from '../../resources/web-actions.ts'
import { noIo, runOnStorage } from '../command.ts'
import { Failure } from '../exit.ts'
import { painter } from '../text.ts'
import { describeResponse, renderExplanation } from './explanation-text.ts'
import { readNamed, readServiceScope, refuseTokenOptions, type ExplainFlags } from './explain-flags.ts'

/**
 * Explains a decision about stated facts or a stored workspace.
 * @throws {Failure} `denied`
 */
export async function printExplanation(flags: ExplainFlags): Promise<void> {
  const result = flags.as === undefined ? await (await import('./explain-stated.ts')).explainStated(flags) : await explainStored(flags)
  console.log(flags.json === true ? JSON.stringify(result) : renderExplanation(result, painter(process.stdout)))
  if ('response' in result) {
    if (!result.allowed) throw new Failure('denied', `denied: ${describeResponse(result.response)}`)
  } else if ([result, ...result.further].some(({ answers }) => answers.some(({ answer }) => answer !== 'allowed')))
    throw new Failure('denied', 'denied in at least one case')
}

async function explainStored(flags: ExplainFlags): Promise<StoredAnswer> {
  for (const name of ['facts', 'any', 'policies'] as const)
    if (flags[name] !== undefined) throw new ConfigError(`--${name} is about stated facts, and has no effect with --as`)
  const { as: user, workspace, operation, resource } = flags
  if (workspace === undefined) throw new ConfigError('--as needs --workspace: the id of the workspace of the user')
  const isInWebApp = webActions.some(({ id }) => id === operation)
  if (isInWebApp) refuseTokenOptions(flags)
  const scope = isInWebApp ? undefined : readServiceScope(flags.scope)
  const question = { workspace, user, scope, operation, resource, ...readNamed(flags) }
  return (await runOnStorage(flags, 'policy.explain', question, noIo)) as StoredAnswer
}
