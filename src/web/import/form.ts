import { newSecret } from '../../auth/secrets.ts'
import type { BoardReading, ReadPerson } from '../../importers/board-reading.ts'
import type { Member } from '../boards/people.ts'
import { formPage, type Refusal } from '../form-page.ts'
import { html } from '../html.ts'
import type { PageView } from '../page-context.ts'
import { BOARD_SCRIPTS, type Reader } from '../reader.ts'
import { renderReport } from './report-view.ts'

/** Where boards come from, and how their file is made. */
const SOURCES = [
  ['trello', 'Trello', 'its JSON: in the menu of the board, “Print, export and share”, “Export as JSON”'],
  ['planka', 'Planka', 'its JSON: the response of GET /api/boards/ID'],
  ['csv', 'A table', 'CSV with a header, as spreadsheets, Jira, Linear and Asana write it'],
  ['github', 'Issues of GitHub', 'JSON: gh issue list --state all --json number,title,body,url,state,labels,assignees,comments'],
] as const

/** A choice of who has access: its value in the form, and its text. */
const ACCESS = [
  ['', 'As the file says, or only its members'],
  ['private', 'Only its members'],
  ['workspace', 'Everybody in the workspace'],
] as const

/** How many people and columns of a file the form asks about: its fields are bounded. */
const MOST_PEOPLE = 50
const MOST_COLUMNS = 50

/** What a file has, and the members of the workspace. */
interface Checked {
  readonly reading: BoardReading
  readonly users: readonly Member[]
}

/** The form for a file, with what was found in it. */
export function renderImportForm(reader: Reader, refusal: Refusal = {}, checked?: Checked): PageView {
  const { context } = reader
  const { form, web } = context
  const view = formPage(
    context,
    {
      title: 'Import a board',
      hasFile: true,
      hidden: { form_key: newSecret(web.random) },
      above: html`<p class="hint">
          A board of another program, a table or issues become a new board of yours. The file is checked first, and nothing is written: you
          see what would be imported, and what would not.
        </p>
        ${checked !== undefined && renderReport(checked.reading.result)}`,
      fields: html`
        <div class="field">
          <label for="from">From</label>
          <select id="from" name="from" required>
            <option value="">Choose</option>
            ${SOURCES.map(([value, name]) => html`<option value=${value} selected=${form.get('from') === value}>${name}</option>`)}
          </select>
        </div>
        <div class="field">
          <label for="access">Who has access</label>
          <select id="access" name="access">
            ${ACCESS.map(([value, name]) => html`<option value=${value} selected=${form.get('access') === value}>${name}</option>`)}
          </select>
        </div>
        ${checked !== undefined && [renderPeople(checked, form), renderColumns(checked.reading, form)]}
        <details open=${(form.get('map') ?? '') !== ''}>
          <summary>Columns of a table</summary>
          <div class="field">
            <label for="map">What its columns are</label>
            <p class="hint" id="map-hint">
              One in each line, such as <code>Aufgabe=title</code>. Names such as Summary, Status and Due date are known already. Others are
              added to the descriptions, and <code>Notes=ignore</code> leaves a column out.
            </p>
            <textarea id="map" name="map" rows="3" aria-describedby="map-hint" spellcheck="false">${form.get('map') ?? ''}</textarea>
          </div>
        </details>
        <div class="field">
          <label for="file">File</label>
          <ul class="hint" id="file-hint">
            ${SOURCES.map(([, name, how]) => html`<li>${name}: ${how}</li>`)}
          </ul>
          <input id="file" name="file" type="file" required accept=".json,.csv,.tsv,.txt" aria-describedby="file-hint" data-kept />
          ${
            checked !== undefined &&
            html`<noscript><p class="hint">Choose the file once more: a page cannot choose it for you.</p></noscript>`
          }
        </div>
        <p class="actions">
          ${checked === undefined ? undefined : html`<button class="primary" formaction="${context.path}?import">Import</button> `}
          <button class=${checked === undefined ? 'primary' : undefined}>
            ${checked === undefined ? 'Check the file' : 'Check it again'}
          </button>
          <a class="button" href="/app">Cancel</a>
        </p>
      `,
    },
    refusal,
  )
  return { ...view, scripts: BOARD_SCRIPTS }
}

/** Asks who the people of the file are whom no member is called like, and those who were chosen. */
function renderPeople({ reading, users }: Checked, form: URLSearchParams): unknown {
  const chosen = new Set(form.getAll('member'))
  const isAsked = ({ id, userId }: ReadPerson) => userId === null || chosen.has(pairOf(id, userId))
  const asked = reading.people.filter(isAsked)
  if (asked.length === 0) return undefined
  return html`<fieldset>
    <legend>People of the file</legend>
    <p class="hint">No member of the workspace has the name of these people. Their work belongs to whom you choose.</p>
    ${asked.slice(0, MOST_PEOPLE).map(
      ({ id, name }, i) =>
        html`<div class="field">
          <label for="member-${i}"><bdi>${name}</bdi></label>
          <select id="member-${i}" name="member">
            <option value="">Nobody</option>
            ${users.map(({ user_id, display_name }) => {
              const pair = pairOf(id, user_id)
              return html`<option value=${pair} selected=${chosen.has(pair)} dir="auto">${display_name}</option>`
            })}
          </select>
        </div>`,
    )}
    ${asked.length > MOST_PEOPLE && html`<p class="hint">${asked.length - MOST_PEOPLE} more people are nobody here.</p>`}
  </fieldset>`
}

/** A person of a file and a user of the workspace, as an import has them. */
function pairOf(theirs: string, ours: string): string {
  return `${theirs}=${ours}`
}

/** Asks which columns complete their cards. */
function renderColumns({ columns }: BoardReading, form: URLSearchParams): unknown {
  const done = new Set(form.getAll('done'))
  const asked = columns.filter(({ name, completes }) => !completes || done.has(name)).slice(0, MOST_COLUMNS)
  if (asked.length === 0) return undefined
  return html`<fieldset>
    <legend>Columns whose cards are done</legend>
    ${asked.map(
      ({ name }, i) =>
        html`<div class="option">
          <input type="checkbox" id="done-${i}" name="done" value=${name} checked=${done.has(name)} />
          <label for="done-${i}"><bdi>${name}</bdi></label>
        </div>`,
    )}
  </fieldset>`
}

/** The options of the command line, as the form calls them. */
const WORDS: readonly (readonly [option: RegExp, words: string])[] = [
  [/--map needs --from csv/g, '“Columns of a table” is for tables'],
  [/name one with --map THEIRS=title/g, 'name one under “Columns of a table”, such as Aufgabe=title'],
  [/--map: /g, '“Columns of a table”: '],
  [/--from: must be one of .*/g, 'Choose where the board comes from.'],
  [/--member: /g, '“People of the file”: '],
  [/--done: /g, '“Columns whose cards are done”: '],
]

/** A message of the importers in the words of the form. */
export function inWords(message: string): string {
  return WORDS.reduce((text, [option, words]) => text.replace(option, words), message)
}
