import { explanationScript } from './explanation-script.ts'

/** Runs before the page is shown: it must not change its colours afterwards. */
export const earlyScript = `'use strict'
document.documentElement.classList.add('has-js')
try {
  const theme = localStorage.getItem('lanekeeper-theme')
  if (theme) document.documentElement.dataset.theme = theme
} catch {}
`

/** Filters the matrix. It decides nothing: every answer comes from the data of the page. */
const matrixScript = `'use strict'
const data = JSON.parse(document.getElementById('data').textContent)
const { facts, groups, permissions, answers, rules, operations } = data
const ORDER = ['ok', 'scope', '403', '404', '401']
const find = (id) => document.getElementById(id)

/** Makes an element. A child that is a text stays a text. */
function element(tag, attributes, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === false) continue
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value)
    else made.setAttribute(name, value === true ? '' : value)
  }
  made.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== false && child !== null))
  return made
}

function responseOf({ outcome, handWritten }) {
  if (outcome === 'allowed') return 'ok'
  if (handWritten === 401) return '401'
  return outcome === 'forbidden' ? '403' : '404'
}

/** Every cell of a row of the matrix that has the chosen values. */
function cellsWith({ permission, field }, chosen) {
  const { facts: names, fields, cells } = permissions[permission]
  const width = fields ? fields.length : 1
  const found = []
  for (let index = 0; index < cells.length; index++) {
    if (fields && fields[index % width] !== field) continue
    let rest = Math.floor(index / width)
    const values = {}
    let fits = true
    for (const name of names) {
      const all = facts[name].values
      values[name] = all[rest % all.length]
      rest = Math.floor(rest / all.length)
      if (chosen[name] !== undefined && chosen[name] !== values[name]) {
        fits = false
        break
      }
    }
    if (fits) found.push({ values, answer: answers[cells[index]] })
  }
  return found
}

/** Without what is answered 401, if there is anything else. */
function relevantCells(row, chosen) {
  const all = cellsWith(row, chosen)
  const asked = all.filter(({ answer }) => responseOf(answer) !== '401')
  return asked.length > 0 ? asked : all
}

function isScopeMissing({ permission }, chosen) {
  const scope = chosen[data.scope]
  return scope !== undefined && !permissions[permission].scopes.includes(scope)
}

function responsesWith(row, chosen) {
  if (isScopeMissing(row, chosen)) return ['scope']
  const found = new Set(relevantCells(row, chosen).map(({ answer }) => responseOf(answer)))
  return ORDER.filter((response) => found.has(response))
}

const textOf = (response, row) =>
  response === 'ok' ? 'allowed' : response === 'scope' ? 'insufficient scope' : response === '404' && row.isFilteredList ? 'left out' : response

function mark(response, row) {
  const kind = response === 'ok' || response === 'scope' ? response : 'r' + response
  const symbol = response === 'ok' ? '✓' : response === 'scope' ? 'scope' : textOf(response, row)
  return element('span', { class: 'answer ' + kind }, symbol)
}

const chosenFacts = () => {
  const chosen = {}
  for (const select of document.querySelectorAll('[data-fact]')) {
    select.classList.toggle('chosen', select.value !== '')
    if (select.value !== '') chosen[select.dataset.fact] = select.value
  }
  return chosen
}

/** The combinations of values of the facts of a group, without those that are filtered out. */
function columnsOf(group, chosen) {
  return groups[group].reduce(
    (columns, name) =>
      columns.flatMap((column) =>
        facts[name].values.filter((value) => chosen[name] === undefined || chosen[name] === value).map((value) => ({ ...column, [name]: value })),
      ),
    [{}],
  )
}

const describe = (values) => Object.entries(values).map(([name, value]) => name + ' ' + value).join(', ')
const nameOf = (row) => row.id + (row.field ? '.' + row.field : '') + (row.member ? ' ' + row.member : '')
const groupOf = (row) => row.id.split('.')[0]

function matches(row, words) {
  const { row: id, rules: ids, scopeRules } = permissions[row.permission]
  const text = [nameOf(row), row.request, row.permission, id, ...ids, ...scopeRules].join(' ').toLowerCase()
  return words.every((word) => text.includes(word))
}

function renderMatrix() {
  const chosen = chosenFacts()
  const group = find('columns').value
  const columns = columnsOf(group, chosen)
  const words = find('search').value.toLowerCase().split(/\\s+/).filter(Boolean)
  const only = find('only').value
  const width = columns.length / new Set(columns.map((column) => column[groups[group][0]])).size
  const kindOf = (i) => 'value' + (i % width === 0 ? ' first' : '')
  const body = element('tbody')
  let before
  let count = 0
  for (const row of operations) {
    if (!matches(row, words)) continue
    const { facts: names, scope, row: id } = permissions[row.permission]
    const isDecidedOn = groups[group].some((name) => names.includes(name) || name === data.scope)
    const cells = (isDecidedOn ? columns : [{}]).map((column) => {
      const all = { ...chosen, ...column }
      return { all, column, found: responsesWith(row, all) }
    })
    const isAllowed = cells.some(({ found }) => found.includes('ok'))
    if ((only === 'ok' && !isAllowed) || (only === 'no' && isAllowed)) continue
    count++
    if (groupOf(row) !== before) {
      before = groupOf(row)
      const name = before.replaceAll('_', ' ')
      body.append(element('tr', { class: 'group' }, element('th', { colspan: columns.length + 3, scope: 'colgroup' }, name)))
    }
    const title = element(
      'th',
      { scope: 'row' },
      element('span', { class: 'mono' }, row.id, row.field ? [' ', element('b', {}, '.' + row.field)] : '', row.member ? [' ', element('b', {}, row.member)] : ''),
      element('span', { class: 'request' }, row.member ? 'each of ' + row.member + ': ' + row.permission : row.request),
    )
    const link = element('a', { href: '#row-' + id }, id)
    const line = element('tr', {}, title, element('td', { class: 'id' }, scope), element('td', { class: 'id' }, link))
    for (const [i, { all, column, found }] of cells.entries()) {
      const label = nameOf(row) + (isDecidedOn ? ', ' + describe(column) : '') + ': ' + found.map((one) => textOf(one, row)).join(' ') + '. Why?'
      const button = element('button', { type: 'button', tabindex: '-1', 'aria-label': label, onclick: () => explain(row, all) }, found.map((one) => [mark(one, row), ' ']))
      line.append(element('td', { class: kindOf(i), colspan: isDecidedOn ? 1 : columns.length }, button))
    }
    body.append(line)
  }
  const [main, ...others] = groups[group]
  const lines = others.length > 0 ? 2 : 1
  const short = (name) => name.slice(group.length + 1)
  const tops = [...new Set(columns.map((column) => column[main]))].map((value) =>
    element('th', { scope: 'colgroup', class: 'first', colspan: width }, short(main) + ' ' + value),
  )
  const below = columns.map((column, i) =>
    element('th', { scope: 'col', class: kindOf(i) }, others.map((name) => short(name) + ' ' + column[name]).join(', ')),
  )
  const fixed = [['Operation'], ['Scope', 'of-id'], ['Row', 'of-id']].map(([title, kind]) =>
    element('th', { scope: 'col', class: kind, rowspan: lines }, title),
  )
  const head = element('thead', {}, element('tr', {}, fixed, tops), lines === 2 && element('tr', {}, below))
  find('matrix').replaceChildren(head, body)
  const first = body.querySelector('button')
  if (first) first.tabIndex = 0
  find('matrix-status').textContent = count + ' of ' + operations.length + ' rows' + (Object.keys(chosen).length > 0 ? ', with ' + describe(chosen) : '')
}

/** One button of the matrix can be reached with Tab, the others with the arrows. */
find('matrix').addEventListener('keydown', (event) => {
  const button = event.target.closest('td button')
  const steps = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [0, -Infinity], End: [0, Infinity] }
  const step = steps[event.key]
  if (!button || !step) return
  event.preventDefault()
  const lines = [...find('matrix').tBodies[0].rows].map((line) => [...line.querySelectorAll('button')]).filter((line) => line.length > 0)
  const at = lines.findIndex((line) => line.includes(button))
  const line = lines[Math.max(0, Math.min(lines.length - 1, at + step[0]))]
  const column = lines[at].indexOf(button) + step[1]
  const next = line[Math.max(0, Math.min(line.length - 1, column))]
  button.tabIndex = -1
  next.tabIndex = 0
  next.focus()
})

find('filters').addEventListener('input', renderMatrix)
find('filters').addEventListener('reset', () => setTimeout(renderMatrix))
find('filters').addEventListener('submit', (event) => event.preventDefault())
const theme = find('theme')
theme.value = document.documentElement.dataset.theme || ''
theme.addEventListener('change', () => {
  if (theme.value === '') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme.value
  try {
    if (theme.value === '') localStorage.removeItem('lanekeeper-theme')
    else localStorage.setItem('lanekeeper-theme', theme.value)
  } catch {}
})
`

/** Filters the matrix and explains its cells. */
export const reportScript = `${matrixScript}${explanationScript}
renderMatrix()
openLink()
`
