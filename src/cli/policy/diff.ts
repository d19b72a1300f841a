import { Option, type Command } from 'commander'
import { Failure } from '../exit.ts'
import { annotate, counted, painter } from '../text.ts'

const formats = ['text', 'markdown', 'json', 'junit'] as const
interface DiffFlags {
  readonly format: (typeof formats)[number]
  readonly json?: boolean
}

const LEGEND = `
Every answer of both policies is compared, in each cell: each combination of a permission with a scope and the facts that it depends on.
  + ALLOW, - DENY    requests that are allowed now, or no longer
  + REVEAL, - HIDE   requests that are 403 now, which tells that something exists, or 404 again
  ~ RESPONSE         requests that are refused for another reason
  + DEFINE, - DEFINE definitions of the vocabulary that are true now, or no longer
In brackets: the row of the specification, or of an extension (X). A declared reason is the author's: nothing has verified it.
Exit codes: 0, or 10 if the new policy allows more and does not declare that in the same change.`

/** Adds `lanekeeper policy diff`. */
export function addDiffCommand(policy: Command): void {
  policy
    .command('diff <old> <new>')
    .description('what two policies decide differently; each is a folder, a revision of git as REVISION or REVISION:PATH, or "shipped"')
    .addOption(new Option('--format <format>', 'the format of the result').choices(formats).default('text'))
    .option('--json', 'the same as --format json')
    .addHelpText('after', LEGEND)
    .action(diff)
}

/** Prints what changes, and fails if the new policy allows more and does not declare it. */
async function diff(oldName: string, newName: string, { format, json = false }: DiffFlags): Promise<void> {
  const [
    { diffPolicies, undeclared },
    { describeUndeclared, renderDiffJson, renderDiffMarkdown, renderDiffText, renderJunit },
    { readPolicy },
  ] = await Promise.all([import('../../policy/decision-diff.ts'), import('../../policy/result-formats.ts'), import('./read-policy.ts')])
  const [before, after] = [readPolicy(oldName), readPolicy(newName)]
  const difference = diffPolicies(before.engine, after.engine, after.widenings, before.widenings)
  const widened = undeclared(difference).map(describeUndeclared)
  const render = {
    text: () => renderDiffText(difference, painter(process.stdout)),
    markdown: () => renderDiffMarkdown(difference),
    json: () => renderDiffJson(difference),
    junit: () => renderJunit([{ name: 'the policy allows no more than before without declaring it', failures: widened }]),
  }
  console.log(render[json ? 'json' : format]())
  for (const one of widened) annotate('the policy allows more than before', one)
  if (widened.length > 0) throw new Failure('undeclaredWidening', `not declared in widenings.yaml: ${counted(widened.length, 'widening')}`)
}
