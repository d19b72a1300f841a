import type { VNode } from 'preact'
import { effectiveScopes, type Scope } from '../../model/token.ts'
import type { Engine } from '../../policy/engine.ts'
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
      rows: [...new Set(rules.map((rule) => rule.row))].map((id) => ({ id, ...splitRow(vocabulary.rows.get(id)!.words) })),
    }
  })
}

/** The list of {@link allowances} that is shown before a token is created. */
export function allowanceList(engine: Engine, granted: readonly string[]): VNode {
  return html`<dl class="allowances">
    ${allowances(engine, granted).map(
      ({ scope, capability, rows }) => html`
        <dt><code>${scope}</code> ${capability}</dt>
        <dd>
          <ul>
            ${rows.map(({ id, what, where }) => html`<li>${what} <span class="hint">(${id}: ${where})</span></li>`)}
          </ul>
        </dd>
      `,
    )}
  </dl>`
}

/** Splits the text of a row, `what: where`. */
function splitRow(text: string): { what: string; where: string } {
  const colon = text.indexOf(': ')
  return { what: text.slice(0, colon).replace('(extension) ', ''), where: text.slice(colon + 2) }
}
