import type { VNode } from 'preact'
import { effectiveScopes, type Scope } from '../model/token.ts'
import type { Engine } from '../policy/engine.ts'
import { html } from './html.ts'

/** What one scope adds to those before it, in the words of the specification's tables. */
export interface Allowance {
  readonly scope: Scope
  /** of the scope table */
  readonly capability: string
  /** of the permission table: what is done, and what the person must be for it */
  readonly rows: readonly { readonly id: string; readonly what: string; readonly where: string }[]
}

/**
 * What a token with these scopes can be used for: read from the two tables that decide it, so that it cannot say
 * anything else.
 */
export function allowances(engine: Engine, chosen: readonly string[]): readonly Allowance[] {
  const { vocabulary, permissionRules } = engine
  const ladder = (scope: string) => ({ [vocabulary.scopeOrder.name]: scope })
  return effectiveScopes(chosen).map((scope) => {
    const asks = [...vocabulary.permissions.values()].filter(({ id: id }) => engine.checkScope(id, ladder(scope)).required === scope)
    const row = asks[0] && engine.checkScope(asks[0].id, ladder(scope)).row
    const deciding = permissionRules.filter((rule) =>
      asks.some(({ action, subject }) => rule.action.includes(action) && rule.subject.includes(subject)),
    )
    return {
      scope,
      capability: after(row === undefined ? '' : vocabulary.rows.get(row)!),
      rows: [...new Set(deciding.map((rule) => rule.row))].map((id) => ({ id, ...split(vocabulary.rows.get(id)!) })),
    }
  })
}

/** The same, as it is shown before a token is issued. */
export function allowanceList(engine: Engine, chosen: readonly string[]): VNode {
  return html`<dl class="allowances">
    ${allowances(engine, chosen).map(
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

function split(words: string): { what: string; where: string } {
  const colon = words.indexOf(': ')
  return { what: words.slice(0, colon).replace('(extension) ', ''), where: words.slice(colon + 2) }
}

function after(words: string): string {
  return words.slice(words.indexOf(': ') + 2)
}
