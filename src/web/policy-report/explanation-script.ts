/** Explains a cell in a dialog: what both stages say and why, and what the hand-written decisions say. It goes on in script.ts. */
export const explanationScript = `
const dialog = find('why')
dialog.addEventListener('close', () => history.replaceState(null, '', location.pathname + location.search))
dialog.addEventListener('click', (event) => {
  if (event.target === dialog) dialog.close()
})
addEventListener('hashchange', openLink)

const verdicts = {
  ok: 'Allowed',
  scope: '403 insufficient_scope: the token cannot be used for this',
  401: '401: the caller is not authenticated',
  403: '403 forbidden: no rule allows it',
  404: '404 not_found: as if it did not exist',
}

/** Opens the explanation of the cells with the chosen values: of the first one, with all values to choose from. */
function explain(row, chosen) {
  const { values } = relevantCells(row, chosen)[0]
  const scope = chosen[data.scope] || permissions[row.permission].scope
  showCell(row, chosen, { ...values, [data.scope]: scope })
  if (!dialog.open) dialog.showModal()
  dialog.scrollTop = 0
}

function showCell(row, chosen, selected) {
  const { answer } = cellsWith(row, selected)[0]
  const permission = permissions[row.permission]
  const response = isScopeMissing(row, selected) ? 'scope' : responseOf(answer)
  const focused = document.activeElement && document.activeElement.id
  const verdict = response === '404' && row.isFilteredList ? 'Left out of the list, as if it did not exist' : verdicts[response]
  const shown = [
    element('button', { type: 'button', class: 'close', onclick: () => dialog.close() }, 'Close'),
    element('h2', { id: 'why-title' }, nameOf(row)),
    element('p', { class: 'soft' }, element('code', {}, row.member ? 'each of ' + row.member + ' of ' + row.request : row.request)),
    element('p', { class: 'verdict', role: 'status' }, mark(response, row), ' ', verdict),
    choices(row, chosen, selected),
    factSelects(row, chosen, selected),
    scopeStage(permission, selected),
    definitionStage(permission, selected, answer),
    ruleStage(row, permission, selected, answer),
    decisionStage(answer),
  ]
  dialog.firstElementChild.replaceWith(element('div', {}, shown))
  const again = focused && find(focused)
  if (again && dialog.contains(again)) again.focus()
  const link = new URLSearchParams({ operation: row.id })
  if (row.field) link.set('field', row.field)
  if (row.member) link.set('member', row.member)
  for (const [name, value] of Object.entries(selected)) link.set(name, value)
  history.replaceState(null, '', '#why?' + link)
}

/**
 * Splits cells by one fact after the other until each part has one response, in as few parts as it can. Values that lead to the same parts
 * are joined.
 */
function splitCells(cells, names) {
  const first = responseOf(cells[0].answer)
  if (cells.every(({ answer }) => responseOf(answer) === first)) return [{ terms: [], cell: cells[0], response: first }]
  let best
  for (const name of names) {
    const groups = new Map()
    for (const cell of cells) groups.set(cell.values[name], [...(groups.get(cell.values[name]) || []), cell])
    if (groups.size < 2) continue
    const joined = new Map()
    for (const [value, of] of groups) {
      const parts = splitCells(of, names.filter((other) => other !== name))
      const key = JSON.stringify(parts.map(({ terms, response }) => [terms, response]))
      if (joined.has(key)) joined.get(key).values.push(value)
      else joined.set(key, { values: [value], parts })
    }
    const all = [...joined.values()]
    const result = all.flatMap(({ values, parts }) =>
      parts.map((part) => ({ ...part, terms: all.length > 1 ? [[name, values], ...part.terms] : part.terms })),
    )
    if (!best || result.length < best.length) best = result
  }
  return best
}

/** If the chosen values leave several responses: when which one is given. */
function choices(row, chosen, selected) {
  const cells = relevantCells(row, chosen)
  const names = permissions[row.permission].facts.filter((name) => chosen[name] === undefined)
  const others = (values, name) => names.filter((other) => other !== name).map((other) => values[other]).join('|')
  const dependsOn = names.filter((name) => {
    const seen = new Map()
    return cells.some(({ values, answer }) => {
      const key = others(values, name)
      const response = responseOf(answer)
      if (!seen.has(key)) seen.set(key, response)
      return seen.get(key) !== response
    })
  })
  if (dependsOn.length === 0) return
  const buttons = splitCells(cells, dependsOn).map(({ terms, cell, response }, i) => {
    const isSelected = terms.every(([name, values]) => values.includes(selected[name]))
    const label = terms.map(([name, values]) => name + ' ' + values.join(' or ')).join(', ')
    const pick = () => showCell(row, chosen, { ...cell.values, [data.scope]: selected[data.scope] })
    return element('button', { type: 'button', id: 'choice-' + i, 'aria-pressed': String(isSelected), onclick: pick }, mark(response, row), ' ', label)
  })
  return [element('p', { class: 'soft' }, 'It depends on ' + dependsOn.join(', ') + ':'), element('div', { class: 'choices' }, buttons)]
}

function factSelects(row, chosen, selected) {
  const names = [data.scope, ...permissions[row.permission].facts]
  const boxes = names.map((name) => {
    const id = 'what-' + name
    const options = facts[name].values.map((value) => element('option', { selected: value === selected[name] }, value))
    const change = (event) => showCell(row, chosen, { ...selected, [name]: event.target.value })
    return element('div', {}, element('label', { for: id }, name), element('select', { id, title: facts[name].means, onchange: change }, options))
  })
  return element('div', { class: 'what', role: 'group', 'aria-label': 'Facts' }, boxes)
}

const ruleLink = (id) => element('a', { class: 'id', href: '#rule-' + id, onclick: () => dialog.close() }, id)

/** A rule with its conditions, each met or not. */
function ruleItem(id, valueOf, field) {
  const { conditions, fields, reason } = rules[id]
  const tags = conditions.map(([name, values]) => [name, values, values.includes(valueOf(name))])
  if (fields) tags.push(['field', fields, fields.includes(field)])
  const isMatching = tags.every(([, , met]) => met)
  const shown = tags.map(([name, values, met]) => {
    const text = values.length === 1 && values[0] === 'true' ? [name] : [element('i', {}, name + ' is '), values.join(' or ')]
    return element('span', { class: 'tag ' + (met ? 'met' : 'unmet') }, met ? '✓ ' : '✗ ', element('span', { class: 'unseen' }, met ? 'met: ' : 'not met: '), text)
  })
  return element(
    'li',
    {},
    element('div', { class: 'tags' }, ruleLink(id), element('span', {}, isMatching ? 'matches' : 'does not match'), shown),
    element('span', { class: 'why' }, reason),
  )
}

function stage(kind, title, ...children) {
  return element('div', { class: 'stage ' + kind }, element('h3', {}, title), children)
}

function scopeStage({ scope, scopes, scopeRules }, selected) {
  if (scopeRules.length === 0) return stage('pass', '1. Scope table: not asked. Only the web app can do this, and no token', [])
  const isEnough = scopes.includes(selected[data.scope])
  const items = scopeRules.map((id) => ruleItem(id, (name) => selected[name]))
  const title = '1. Scope table: ' + scope + ' is required, the token has ' + selected[data.scope]
  return stage(isEnough ? 'pass' : 'stop', title, element('ul', {}, items))
}

const valueIn = (selected, { definitions }) => (name) =>
  definitions[name] === undefined ? selected[name] : String(definitions[name].length > 0)

function definitionStage({ notFoundUnless }, selected, answer) {
  const all = Object.entries(answer.definitions)
  if (all.length === 0) return
  const parts = all.map(([name, matching]) => {
    const isTrue = matching.length > 0
    const by = isTrue ? ' is true, by ' + matching.join(', ') : ' is false' + (notFoundUnless.includes(name) && !isTrue ? ': the response is 404' : '')
    return [
      element('p', {}, element('code', {}, element('b', {}, name)), by),
      element('ul', {}, data.definitions[name].map((id) => ruleItem(id, valueIn(selected, answer)))),
    ]
  })
  const failed = notFoundUnless.some((name) => answer.definitions[name].length === 0)
  return stage(failed ? 'stop' : 'pass', '2. Definitions', parts)
}

function ruleStage(row, { row: id, rules: ids }, selected, answer) {
  const title = '3. Permission table: ' + (answer.rules.length > 0 ? 'allowed by ' + answer.rules.join(', ') : 'no rule allows it')
  return stage(
    answer.rules.length > 0 ? 'pass' : 'stop',
    title,
    element('p', { class: 'soft' }, element('b', {}, id + ' '), data.rows[id]),
    element('ul', {}, ids.map((one) => ruleItem(one, valueIn(selected, answer), row.field))),
  )
}

function decisionStage({ handWritten, outcome, decision, case: name }) {
  const agrees = handWritten === 401 ? outcome !== 'allowed' : { allowed: 'ok', forbidden: 403, not_found: 404 }[outcome] === handWritten
  const before = handWritten === 401 ? ' It is answered before the permission table is asked, and the table must deny.' : ''
  return stage(
    agrees ? 'pass' : 'stop',
    'Hand-written decision: ' + handWritten + (agrees ? ', as the tables' : ', which is not what the tables answer'),
    element('p', { class: 'soft' }, 'Decision “' + decision + '”, case “' + name + '”.' + before),
  )
}

/** Opens the explanation that the address names. */
function openLink() {
  if (!location.hash.startsWith('#why?')) return
  const link = new URLSearchParams(location.hash.slice(5))
  const row = operations.find(
    ({ id, field, member }) => id === link.get('operation') && (field || null) === link.get('field') && (member || null) === link.get('member'),
  )
  if (!row) return
  const named = Object.entries(facts).filter(([name, { values }]) => values.includes(link.get(name)))
  const selected = Object.fromEntries(named.map(([name]) => [name, link.get(name)]))
  const { permission } = row
  const known = Object.fromEntries(Object.entries(selected).filter(([name]) => name === data.scope || permissions[permission].facts.includes(name)))
  explain(row, known)
}
`
