import type { VNode } from 'preact'
import { effectiveScopes, type Scope } from '../../model/token.ts'
import type { Engine } from '../../policy/engine.ts'
import type { Row } from '../../policy/specification.ts'
import { html } from '../html.ts'

/** What one scope allows in addition to the scopes below it, in the words of the specification's tables. */
export interface Allowance {
  readonly scope: Scope
  /** from the scope table */
  readonly capability: string
  /** from the permission table: its id, what it allows, and the condition that the person must meet */
  readonly rows: readonly { readonly id: string; readonly what: string; readonly where: string }[]
}

/** What a token with these scopes can do. It is read from the policy tables, so the page cannot contradict them. */
export function allowances(engine: Engine, granted: readonly string[]): readonly Allowance[] {
  const { vocabulary, permissionRules } = engine
  return effectiveScopes(granted).map((scope) => {
    const facts = { [vocabulary.scopeOrder.name]: scope }
    const permissions = [...vocabulary.permissions.values()].filter(({ id }) => engine.checkScope(id, facts).required === scope)
    const scopeRow = permissions[0] && engine.checkScope(permissions[0].id, facts).row
    const rules = permissionRules.filter((rule) =>
      permissions.some(({ action, subject }) => rule.action.includes(action) && rule.subject.includes(subject)),
    )
    return {
      scope,
      capability: scopeRow === undefined ? '' : splitRow(vocabulary.rows.get(scopeRow)!.words).where,
      rows: [...new Set(rules.map((rule) => rule.row))].map((id) => ({ id, ...splitRow(wordsFor(scope, vocabulary.rows.get(id)!)) })),
    }
  })
}

/**
 * The list of {@link allowances} that is shown before a token is created.
 * @param hasPolicyPage whether rows can be linked to
 */
export function allowanceList(engine: Engine, granted: readonly string[], hasPolicyPage: boolean): VNode {
  return html`<dl class="allowances">
    ${allowances(engine, granted).map(
      ({ scope, capability, rows }) => html`
        <dt><code>${scope}</code> ${capability}</dt>
        <dd>
          <ul>
            ${rows.map(
              ({ id, what, where }) =>
                html`<li>
                  ${what}${' '}
                  <span class="hint">(${where})</span
                  >${hasPolicyPage && html` <a class="row" href="/policies#row-${id}" aria-label="Row ${id} of the policy">${id}</a>`}
                </li>`,
            )}
          </ul>
        </dd>
      `,
    )}
  </dl>`
}

/** The words of a row about one of its scopes. A row with several scopes has a sentence for each. */
function wordsFor(scope: string, { words, scopes }: Row): string {
  const sentences = words.split(/(?<=\.) /)
  return sentences.length === scopes.length ? sentences[scopes.indexOf(scope)]!.replace(/\.$/, '') : words
}

/** Splits the text of a row, `what: where`. */
function splitRow(text: string): { what: string; where: string } {
  const colon = text.indexOf(': ')
  return { what: text.slice(0, colon).replace('(extension) ', ''), where: text.slice(colon + 2) }
}
