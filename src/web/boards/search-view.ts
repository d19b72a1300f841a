import type { VNode } from 'preact'
import { OWN_ID } from '../../model/fields.ts'
import type { Comment } from '../../model/comment.ts'
import type { BoardSnapshot } from '../../resources/boards/schema.ts'
import { html } from '../html.ts'
import { renderDay, renderDistance } from '../times.ts'
import type { ListedCard } from '../listed-card.ts'
import { renderCrumbs } from './crumbs.ts'
import { doneSign } from './icons.ts'
import { createProse } from '../markdown.ts'
import { renderPerson, type People } from './people.ts'
import { renderAsked, renderCountOfQuestions, renderQuestion } from './questions-view.ts'
import { questionText, type Waiting } from './questions.ts'
import type { Reader } from '../reader.ts'
import { addressOf, cardViews, isAboutDue, type CardSearch, type CardView, usualState } from './search-filters.ts'
import { renderSearchForm } from './search-form.ts'
import { renderDue } from './tile.ts'
import { badgeOf, renderBadge, workWords } from './work.ts'

/** A page of the cards that a search has found. */
export interface FoundCards {
  readonly cards: readonly ListedCard[]
  /** those that wait for an answer of the person, and stand before the others: what waits longest comes first */
  readonly asking: readonly ListedCard[]
  /** the cards whose questions the person may answer */
  readonly answerable: ReadonlySet<string>
  /** card → the question that it waits for an answer to */
  readonly questions: ReadonlyMap<string, Comment>
  /** what waits for an answer of the person, shown here or not */
  readonly waiting: Waiting
  /** the board of each card, with its columns */
  readonly boards: ReadonlyMap<string, BoardSnapshot>
  readonly people: People
  /** the cursor of the cards after these; undefined: no cards follow */
  readonly next: string | undefined
  readonly isContinued: boolean
}

const EMPTY: Readonly<Record<CardView, string>> = {
  mine: 'No card that is assigned to you matches.',
  overdue: 'Nothing is overdue.',
  week: 'Nothing is due in the next 7 days.',
  recent: 'No cards yet.',
}

export function renderSearch(reader: Reader, search: CardSearch, found: FoundCards, workspace: string): VNode {
  const { context, base } = reader
  const now = context.web.clock()
  const { view, q, assignee } = search
  const { cards, asking, next, isContinued } = found
  const isFirst = new Set(asking.map(({ id }) => id))
  const others = cards.filter(({ id }) => !isFirst.has(id))
  return html`
    ${renderCrumbs([['Boards', '/app'], [workspace]])}
    <h1>Cards of all boards</h1>
    <nav class="tabs" aria-label="Lists of cards">
      ${Object.entries(cardViews).map(([name, label]) => {
        // Each tab has its own filters: only the words of the search go with it.
        const address = name === view ? addressOf(search) : `?${new URLSearchParams({ view: name, ...(q !== '' && { q }) })}`
        return html`<a href=${address} aria-current=${name === view ? 'page' : undefined}
          >${label}${name === 'mine' && html` ${renderCountOfQuestions(found.waiting)}`}</a
        >`
      })}
    </nav>
    ${renderSearchForm({ action: `${base}/cards`, view, q, filters: filtersOf(search) })}
    ${asking.length > 0 && renderAsking(reader, found)}
    ${
      others.length === 0
        ? asking.length === 0 &&
          html`<p class="empty">
            ${isContinued ? 'There are no further cards.' : q !== '' ? html`No card here has “<bdi>${q}</bdi>” in its title or description.` : assignee !== '' ? 'No card that is assigned to you is here.' : EMPTY[view]}
            ${q !== '' && view !== 'recent' && html` <a href=${addressOf({ view: 'recent', q, assignee: '', state: 'all', work: '' })}>Search all cards</a>`}
          </p>`
        : html`<ul class="found-cards">
            ${others.map((card) => renderRow(card, found, base, now, view))}
          </ul>`
    }
    ${(next !== undefined || isContinued) && html`<p class="actions">${isContinued && html`<a href=${addressOf(search)}>First cards</a>`}${next !== undefined && html` <a class="button" href=${addressOf(search, next)}>More cards</a>`}</p>`}
  `
}

function filtersOf(search: CardSearch) {
  const { view, assignee, state, work } = search
  const ofAssignee = [
    ['', 'Everyone'],
    [OWN_ID, 'Me'],
  ] as const
  const ofState = [
    ['open', 'Open'],
    ['done', 'Done'],
    ['all', 'Open and done'],
  ] as const
  return [
    ...(view === 'mine' ? [] : [{ name: 'assignee', label: 'Assignee', chosen: assignee, choices: ofAssignee }]),
    { name: 'work', label: 'Work', chosen: work, choices: [['', 'Any work'], ...Object.entries(workWords)] as const },
    ...(isAboutDue(search) ? [] : [{ name: 'state', label: 'State', chosen: state, unset: usualState(view), choices: ofState }]),
  ]
}

/** The questions that wait for the person, each with the form that answers it. */
function renderAsking(reader: Reader, { asking, answerable, questions, boards, people }: FoundCards): VNode {
  const { context } = reader
  const prose = createProse({ nameOf: people.memberName })
  return html`<section class="questions" aria-labelledby="questions-title">
    <h2 id="questions-title">Questions for you <span class="count">${asking.length}</span></h2>
    <ul class="asked">
      ${asking.map((card) => {
        const may: ReadonlySet<string> = new Set(answerable.has(card.id) ? ['cards.answer'] : [])
        return renderAsked({ context, may }, card, boards.get(card.board_id)!.name, renderQuestion(questions.get(card.id)!, people, prose))
      })}
    </ul>
  </section>` as VNode
}

function renderRow(card: ListedCard, { boards, people, questions }: FoundCards, base: string, now: number, view: CardView): VNode {
  const { id, title, board_id, column_id, due_at, completed_at, outcome, assignee_ids, updated_at } = card
  const board = boards.get(board_id)!
  const column = board.columns?.find((one) => one.id === column_id)
  const badge = badgeOf(card, questionText(questions.get(id), people.memberName), now)
  return html`<li class=${completed_at === null ? '' : 'completed'}>
    <a class="found-title" dir="auto" href="${base}/cards/${id}">${title}</a>
    <p class="hint">
      <a href="${base}/boards/${board_id}" dir="auto">${board.name}</a
      >${column && html` · <bdi>${column.name}</bdi>`}${view === 'recent' && html` · changed ${renderDistance(updated_at, now)}`}
    </p>
    ${badge && renderBadge(badge, now)}
    <p class="facts">
      ${completed_at !== null && doneSign(outcome)} ${due_at !== null && renderDue({ due_at, completed_at }, renderDay(due_at, now), now)}
      ${assignee_ids.map((userId) => renderPerson(userId, people.nameOf(userId)))}
    </p>
  </li>`
}
