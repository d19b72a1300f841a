import { render, type ComponentChildren, type VNode } from 'preact'
import { describeSet, holds } from '../../policy/conjunctions.ts'
import { html } from '../html.ts'
import { answer as mark } from '../policy-report/matrix.ts'
import {
  cellsOf,
  isScopeMissing,
  nameOf,
  relevant,
  type AnswerData,
  type Chosen,
  type OperationRow,
  type PermissionData,
  type ReportData,
} from '../policy-report/report-data.ts'

const VERDICTS = {
  ok: 'Allowed',
  scope: '403 insufficient_scope: the token cannot be used for this',
  401: '401: the caller is not authenticated',
  403: '403 forbidden: no rule allows it',
  404: '404 not_found: as if it did not exist',
}

/** A cell that is explained. */
interface Explained {
  readonly row: OperationRow
  readonly permission: PermissionData
  /** the values of the filters and the column that it was opened with */
  readonly chosen: Chosen
  /** the values of all facts */
  readonly selected: Chosen
  readonly answer: AnswerData
  /** shows the cell with other values */
  readonly select: (values: Chosen) => void
}

/** Explains cells in a dialog: what both stages say and why, and what the hand-written decisions say. */
export function createExplanation(
  dialog: HTMLDialogElement,
  data: ReportData,
): { open(row: OperationRow, chosen: Chosen): void; openLink(): void } {
  /** Opens the explanation of the cells with the chosen values: of the first one, with all values to choose from. */
  const open = (row: OperationRow, chosen: Chosen) => {
    const { values } = relevant(cellsOf(data, row, chosen), {})[0]!
    show(row, chosen, { ...values, [data.scope]: chosen[data.scope] ?? data.permissions[row.permission]!.scope })
    if (!dialog.open) dialog.showModal()
    dialog.scrollTop = 0
  }
  const show = (row: OperationRow, chosen: Chosen, selected: Chosen) => {
    const { answer } = cellsOf(data, row, selected)[0]!
    const select = (values: Chosen) => show(row, chosen, { ...selected, ...values })
    const permission = data.permissions[row.permission]!
    render(
      explanation(data, { row, permission, chosen, selected, answer, select }, () => dialog.close()),
      dialog.firstElementChild!,
    )
    const link = linkTo(row.id, row.field, row.member, selected)
    history.replaceState(null, '', `#why?${link}`)
  }
  /** Opens the explanation that the address names. */
  const openLink = () => {
    if (!location.hash.startsWith('#why?')) return
    const link = new URLSearchParams(location.hash.slice(5))
    const named: Partial<Record<string, string>> = Object.fromEntries(link)
    const wanted = linkTo(named['operation'], named['field'], named['member']).toString()
    const row = data.operations.find(({ id, field, member }) => linkTo(id, field, member).toString() === wanted)
    if (row === undefined) return
    const names = [data.scope, ...data.permissions[row.permission]!.facts]
    const known = names.filter((name) => data.facts[name]!.values.includes(link.get(name)!))
    open(row, Object.fromEntries(known.map((name) => [name, link.get(name)!])))
  }
  dialog.addEventListener('close', () => history.replaceState(null, '', location.pathname + location.search))
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog || (target as Element).matches('a')) dialog.close()
  })
  addEventListener('hashchange', openLink)
  return { open, openLink }
}

/** What the address of an explanation names. */
function linkTo(operation = '', field: string | null = null, member: string | null = null, facts: Chosen = {}): URLSearchParams {
  return new URLSearchParams({ operation, ...(field !== null && { field }), ...(member !== null && { member }), ...facts })
}

function explanation(data: ReportData, explained: Explained, close: () => void): VNode {
  const { row, selected, answer } = explained
  const response = isScopeMissing(data, row, selected) ? 'scope' : answer.response
  const isLeftOut = response === '404' && row.isFilteredList
  return html`
    <button type="button" class="close" onClick=${close}>Close</button>
    <h2 id="why-title">${nameOf(row)}</h2>
    <p class="soft"><code>${row.member === null ? row.request : `each of ${row.member} of ${row.request}`}</code></p>
    <p class="verdict" role="status">
      <span aria-hidden="true">${mark(response, row.isFilteredList)}</span>${' '}
      ${isLeftOut ? 'Left out of the list, as if it did not exist' : VERDICTS[response]}
    </p>
    ${choices(data, explained)} ${factSelects(data, explained)} ${scopeStage(data, explained)} ${definitionStage(data, explained)}
    ${ruleStage(data, explained)} ${decisionStage(answer)}
  `
}

/** If the chosen values leave several responses: when which one is given. */
function choices(data: ReportData, { row, permission, chosen, selected, select }: Explained): VNode | undefined {
  const cells = relevant(cellsOf(data, row, chosen), {})
  const responses = new Map(cells.map(({ values, answer }) => [values, answer.response]))
  if (new Set(responses.values()).size === 1) return undefined
  const points = [...responses.keys()]
  const open = permission.facts.filter((name) => chosen[name] === undefined)
  const terms = { dimensions: open.map((name) => ({ name, values: data.facts[name]!.values })), definitions: [] }
  const cases = [...new Set(responses.values())].flatMap((response) =>
    describeSet(points, (point) => responses.get(point) === response, terms).map((when) => ({ when, response })),
  )
  const buttons = cases.map(({ when, response }) => {
    const label = [...when].map(([name, values]) => `${name} ${values.join(' or ')}`).join(', ')
    const first = points.find((point) => holds(when, point))!
    return html`<button type="button" aria-pressed=${String(holds(when, selected))} onClick=${() => select(first)}>
      ${mark(response, row.isFilteredList)} ${label}
    </button>`
  })
  const deciding = open.filter((name) => cases.some(({ when }) => when.has(name)))
  return html`<p class="soft">It depends on ${deciding.join(', ')}:</p>
    <div class="choices">${buttons}</div>`
}

function factSelects({ scope, facts }: ReportData, { permission, selected, select }: Explained): VNode {
  const boxes = [scope, ...permission.facts].map((name) => {
    const { values, means } = facts[name]!
    const change = ({ currentTarget }: { currentTarget: HTMLSelectElement }) => select({ [name]: currentTarget.value })
    return html`<div>
      <label for="what-${name}">${name}</label>
      <select id="what-${name}" title=${means} value=${selected[name]} onChange=${change}>
        ${values.map((value) => html`<option>${value}</option>`)}
      </select>
    </div>`
  })
  return html`<div class="what" role="group" aria-label="Facts">${boxes}</div>`
}

function stage(passes: boolean, title: string, ...children: ComponentChildren[]): VNode {
  return html`<div class="stage ${passes ? 'pass' : 'stop'}">
    <h3>${title}</h3>
    ${children}
  </div>`
}

/** The conditions of a rule, each met or not; its fields are one, too. */
function conditionsOf({ rules }: ReportData, id: string, { row, selected, answer: { definitions } }: Explained) {
  const { conditions, fields } = rules[id]!
  const valueOf = (name: string) => (name === 'field' ? row.field! : String(definitions[name] ?? selected[name]))
  const all = fields === null ? conditions : [...conditions, ['field', fields] as const]
  return all.map(([name, values]) => ({ name, values, isMet: values.includes(valueOf(name)) }))
}

/** Rules with their conditions. */
function ruleList(data: ReportData, ids: readonly string[], explained: Explained): VNode {
  const items = ids.map((id) => {
    const tags = conditionsOf(data, id, explained)
    const shown = tags.map(
      ({ name, values, isMet }) =>
        html`<span class="tag ${isMet ? 'met' : 'unmet'}"
          >${isMet ? '✓ ' : '✗ '}<span class="unseen">${isMet ? 'met: ' : 'not met: '}</span
          >${values.join() === 'true' ? name : html`<i>${name} is </i>${values.join(' or ')}`}</span
        >`,
    )
    return html`<li>
      <div class="tags">
        <a class="id" href="#rule-${id}">${id}</a><span>${tags.every(({ isMet }) => isMet) ? 'matches' : 'does not match'}</span>${shown}
      </div>
      <span class="why">${data.rules[id]!.reason}</span>
    </li>`
  })
  return html`<ul>
    ${items}
  </ul>`
}

function scopeStage(data: ReportData, explained: Explained): VNode {
  const { scope, scopes, scopeRules } = explained.permission
  const held = explained.selected[data.scope]!
  if (scopeRules.length === 0) return stage(true, '1. Scope table: not asked. Only the web app can do this, and no token')
  const title = `1. Scope table: ${scope} is required, the token has ${held}`
  return stage(scopes.includes(held), title, ruleList(data, scopeRules, explained))
}

function definitionStage(data: ReportData, explained: Explained): VNode | undefined {
  const all = Object.entries(explained.answer.definitions)
  if (all.length === 0) return undefined
  const isFatal = ([name, value]: readonly [string, boolean]) => !value && explained.permission.notFoundUnless.includes(name)
  const parts = all.map((one) => {
    const [name, value] = one
    const rules = data.definitions[name]!
    const matching = rules.filter((id) => conditionsOf(data, id, explained).every(({ isMet }) => isMet))
    const by = value ? ` is true, by ${matching.join(', ')}` : ` is false${isFatal(one) ? ': the response is 404' : ''}`
    return html`<p>
        <code><b>${name}</b></code
        >${by}
      </p>
      ${ruleList(data, rules, explained)}`
  })
  return stage(!all.some(isFatal), '2. Definitions', parts)
}

function ruleStage(data: ReportData, explained: Explained): VNode {
  const { permission, answer } = explained
  const by = answer.rules.length > 0 ? `allowed by ${answer.rules.join(', ')}` : 'no rule allows it'
  return stage(
    answer.rules.length > 0,
    `3. Permission table: ${by}`,
    html`<p class="soft"><b>${permission.row} </b>${data.rows[permission.row]}</p>`,
    ruleList(data, permission.rules, explained),
  )
}

function decisionStage({ handWritten, agrees, decision, case: name }: AnswerData): VNode {
  return stage(
    agrees,
    `Hand-written decision: ${handWritten}, ${agrees ? 'as the tables' : 'which is not what the tables answer'}`,
    html`<p class="soft">
      Decision “${decision}”, case
      “${name}”.${handWritten === 401 && ' It is answered before the permission table is asked, and the table must deny.'}
    </p>`,
  )
}
