import { diffPolicies, undeclared } from '../../policy/decision-diff.ts'
import { describeUndeclared, renderDiffJson, renderDiffMarkdown, renderDiffText, renderJunit } from '../../policy/result-formats.ts'
import { Failure } from '../exit.ts'
import { annotate, counted, painter } from '../text.ts'
import { readPolicy } from './read-policy.ts'

interface DiffFlags {
  readonly format: 'text' | 'markdown' | 'json' | 'junit'
  readonly json?: boolean
}

/** Prints what changes, and fails if the new policy allows more and does not declare it. */
export function diff(oldName: string, newName: string, { format, json = false }: DiffFlags): void {
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
