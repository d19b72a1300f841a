import type { VNode } from 'preact'
import type { PolicyDiff } from '../../policy/decision-diff.ts'
import type { Engine } from '../../policy/engine.ts'
import { isOfWebApp, type PolicyOperation } from '../../policy/operations.ts'
import { readAsset } from '../assets.ts'
import { html, themeChoice } from '../html.ts'
import { changesView } from './changes-view.ts'
import { compareDecisions, coverageView } from './coverage-view.ts'
import { createReportData } from './data.ts'
import { contentSecurityPolicy, renderSelfContained } from './document.ts'
import { matrixView } from './matrix-view.ts'
import type { ReportData } from './report-data.ts'
import { rowsTable, rulesTable, termsTables } from './tables.ts'

const scripts = [readAsset('theme.js'), readAsset('policy-report.js')]

/** The content security policy of the page, for its header. */
export const reportSecurityPolicy = contentSecurityPolicy(scripts)

/**
 * A policy as one HTML page that loads nothing: both tables, every answer with its reasons, and what the hand-written decisions cover. The
 * tables and the matrix need no script.
 * @param changes what has changed since another policy
 * @param base the path of the service that shows it; undefined: it is a file
 */
export function renderReport(engine: Engine, operations: readonly PolicyOperation[], changes?: PolicyDiff, base?: string): string {
  const data = createReportData(engine, operations)
  const parts = partsOf(engine, data, changes)
  const body = html`
    ${header(engine, data, operations.filter((one) => !isOfWebApp(one)).length, base)}
    <nav aria-label="Parts of the policy">
      <ul>
        ${parts.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
      </ul>
    </nav>
    <main id="main" tabindex="-1">
      ${parts.map(
        ({ id, title, about, content }) =>
          html`<section class="part" aria-labelledby=${id}>
            <h2 id=${id}>${title}</h2>
            <p class="soft">${about}</p>
            ${content}
          </section>`,
      )}
    </main>
    <dialog id="why" aria-labelledby="why-title"><div></div></dialog>
  `
  return renderSelfContained({ title: `Policy ${engine.hash.slice(0, 12)} · Lanekeeper`, body, scripts, data })
}

interface Part {
  readonly id: string
  readonly title: string
  readonly about: string
  readonly content: VNode
}

function partsOf(engine: Engine, data: ReportData, changes: PolicyDiff | undefined): Part[] {
  const { permissionRules, scopeRules } = engine
  const changed: Part[] =
    changes === undefined
      ? []
      : [{ id: 'changes', title: 'Changes', about: 'The answers and the texts that differ.', content: changesView(changes) }]
  return [
    ...changed,
    {
      id: 'matrix-title',
      title: 'Matrix',
      about: 'What every operation answers. An answer holds for a token with a sufficient scope, whose holder is authenticated.',
      content: matrixView(data),
    },
    {
      id: 'permissions',
      title: 'Permission table',
      about:
        'What a person may do, regardless of the token. Rules only allow: one that matches is enough, and anything that no rule allows is denied.',
      content: sheet(rulesTable(engine, permissionRules, 'Allowed if')),
    },
    {
      id: 'scopes',
      title: 'Scope table',
      about: 'What a token can be used for, regardless of its holder. It is asked first.',
      content: sheet(rulesTable(engine, scopeRules, 'Sufficient')),
    },
    {
      id: 'rows',
      title: 'Specification',
      about: 'The rows that the rules enforce. D rows are definitions, and X rows are extensions.',
      content: sheet(rowsTable(engine, data)),
    },
    { id: 'terms', title: 'Terms', about: 'The facts and definitions that conditions use.', content: termsTables(engine, data) },
    {
      id: 'coverage',
      title: 'Coverage',
      about: 'How much of the tables the hand-written decisions cover, counted over the whole decision space.',
      content: coverageView(engine, data),
    },
  ]
}

function sheet(table: VNode): VNode {
  return html`<div class="sheet">${table}</div>`
}

function header(
  { hash, permissionRules, scopeRules, vocabulary }: Engine,
  data: ReportData,
  operations: number,
  base: string | undefined,
): VNode {
  const { cells, differing } = compareDecisions(data)
  const count = (number: number) => html`<b>${number.toLocaleString('en')}</b>`
  return html`<header>
    <div>
      <p class="brand">
        ${base === undefined ? 'Lanekeeper' : html`<a href="${base}/">Lanekeeper</a> <a href="${base}/docs">API reference</a>`}
      </p>
      <h1>Who may do what</h1>
      <p class="hash"><span class="soft">Policy</span> ${hash}</p>
      <ul class="facts">
        <li>${count(operations)} operations</li>
        <li>${count(vocabulary.permissions.size)} permissions</li>
        <li>${count(permissionRules.length + scopeRules.length)} rules</li>
        <li>${count(cells)} cells</li>
        <li>
          ${
            differing === 0
              ? html`<span class="answer ok">✓ all as the decisions say</span>`
              : html`<span class="answer r403">✗ ${differing} not as the decisions say</span>`
          }
        </li>
      </ul>
    </div>
    ${themeChoice()}
  </header>`
}
