import type { VNode } from 'preact'
import type { Board } from '../../model/board.ts'
import { html } from '../html.ts'
import { plainWords } from '../markdown.ts'
import { workspacesOf, type MemberWorkspace } from '../memberships.ts'
import type { Page, SignedInContext } from '../page-context.ts'
import { renderMoment } from '../times.ts'
import { MOST, readBoardCounts, type BoardCounts } from './board-counts.ts'
import { icon, swatch } from './icons.ts'
import { renderCountOfQuestions } from './questions-view.ts'
import { readWaiting, type Waiting } from './questions.ts'
import { BOARD_SCRIPTS, readAll, readerOf } from '../reader.ts'
import { renderSearchForm } from './search-form.ts'
import { readStars, renderStar } from './stars.ts'

/** Pages of boards that are listed of a workspace. */
export const MAX_BOARD_PAGES = 3

interface Listed {
  readonly workspace: MemberWorkspace
  /** those that the person has starred first, and then those that were changed last */
  readonly boards: readonly Board[]
  readonly stars: ReadonlySet<string>
  readonly counts: ReadonlyMap<string, BoardCounts>
  readonly hasMore: boolean
  /** what waits for an answer of the person */
  readonly waiting: Waiting
  /** whether the person may create boards */
  readonly mayCreate: boolean
}

/** The boards of the person who is signed in, workspace by workspace. */
export const boardsPage: Page = {
  path: '/app',
  anonymous: false,
  async get(context) {
    const { web, session } = context
    const [workspaces, stars] = await Promise.all([workspacesOf(web, session.user_id), readStars(context)])
    const lists = await Promise.all(
      workspaces.map(async (workspace): Promise<Listed> => {
        const reader = readerOf(context, workspace.id)
        const { items, cursor } = await readAll<Board>(reader, ['boards.list'], MAX_BOARD_PAGES)
        const mayCreate = (await reader.allowed('workspace', 'me')).has('boards.create')
        const byChange = items.toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1))
        const counts = await readBoardCounts(reader, byChange)
        const changedAt = (board: Board) => counts.get(board.id)?.changedAt ?? board.updated_at
        const boards = byChange.toSorted(
          (a, b) => Number(stars.has(b.id)) - Number(stars.has(a.id)) || Math.sign(Date.parse(changedAt(b)) - Date.parse(changedAt(a))),
        )
        return { workspace, boards, stars, counts, hasMore: cursor !== undefined, waiting: await readWaiting(reader), mayCreate }
      }),
    )
    return { title: 'Boards', body: renderOverview(context, lists), scripts: BOARD_SCRIPTS }
  },
}

function renderOverview(context: SignedInContext, lists: readonly Listed[]): VNode {
  return html`
    <div class="head">
      <h1>Boards</h1>
      ${
        lists.some(({ boards }) => boards.length > 8) &&
        html`<label class="board-filter name" data-needs-script hidden
          ><span class="unseen">Find a board by its name</span>
          <input type="search" placeholder="Find a board" autocomplete="off" data-find-board data-search
        /></label>`
      }
    </div>
    ${
      lists.length === 0 &&
      html`<p class="empty">
        You are not a member of any workspace yet. Ask your administrator to add you to one: then its boards are here.
      </p>`
    }
    ${lists.map((list) => renderWorkspace(context, list))}
  `
}

function renderWorkspace(context: SignedInContext, { workspace, boards, stars, counts, hasMore, waiting, mayCreate }: Listed): VNode {
  const [headingId, base] = [`workspace-${workspace.id}`, `/app/${workspace.id}`]
  return html`<section aria-labelledby=${headingId}>
    <div class="head">
      <h2 id=${headingId}><bdi>${workspace.name}</bdi> <span class="hint">your role: ${workspace.role}</span></h2>
      <div class="card-links">
        ${renderSearchForm({ action: `${base}/cards`, label: html`Search the cards of <bdi>${workspace.name}</bdi>` })}
        <a href="${base}/cards?view=mine">My cards ${renderCountOfQuestions(waiting)}</a>${' '}
        <a href="${base}/cards?view=overdue">Overdue</a>${' '}
        <a href="${base}/agents">Agents</a>
      </div>
      ${
        mayCreate &&
        boards.length > 0 &&
        html`<span class="actions"
          ><a class="button" href="${base}/do/boards.create">New board</a> <a class="button" href="${base}/import">Import</a></span
        >`
      }
    </div>
    ${
      boards.length === 0
        ? renderFirst(context, workspace.id, mayCreate)
        : html`<ul class="boards">
            ${boards.map(
              (board) =>
                html`<li id=${board.id}>
                  ${renderBoard(workspace, board, counts.get(board.id))}${renderStar(context, base, board, stars.has(board.id))}
                </li>`,
            )}
          </ul>`
    }
    ${hasMore && html`<p class="hint">These are the ${boards.length} oldest boards. The others are in the API.</p>`}
  </section>`
}

/** Characters of a description that are read for what a board shows of it. */
const EXCERPT = 400

function renderBoard(workspace: MemberWorkspace, board: Board, counts: BoardCounts | undefined): VNode {
  const { id, name, description, cover_color, visibility } = board
  return html`<a class="board-link" href="/app/${workspace.id}/boards/${id}">
    ${swatch(cover_color ?? '#8894a5', 'band')}
    <strong dir="auto">${name}</strong>
    ${description !== '' && html`<span class="hint excerpt" dir="auto">${plainWords(description.slice(0, EXCERPT))}</span>`}
    ${counts !== undefined && renderCounts(counts)}
    <span class="hint"
      >${visibility === 'private' && html`<span class="fact">${icon('private')}Private</span> · `}Changed${' '}
      ${renderMoment(counts?.changedAt ?? board.updated_at)}</span
    >
  </a>`
}

/** The cards of a board that need a look, each with its color; those that nothing is the matter with are not counted. */
function renderCounts(counts: BoardCounts): VNode | undefined {
  const shown = COUNTS.filter(([name]) => counts[name] > 0)
  if (shown.length === 0) return undefined
  return html`<span class="facts"
    >${shown.map(([name, look, word]) => html`<span class=${look}>${counts[name]}${counts[name] === MOST && '+'} ${word}</span> `)}</span
  >` as VNode
}

const COUNTS = [
  ['waiting', 'work waiting', 'waiting'],
  ['stuck', 'work stuck', 'stuck'],
  ['overdue', 'fact overdue', 'overdue'],
  ['claimed', 'fact', 'claimed'],
] as const

/** What a workspace without boards shows: the way to its first board, and to the first token, with the command that shows that it works. */
function renderFirst({ url }: SignedInContext, workspaceId: string, mayCreateBoards: boolean): VNode {
  return html`<div class="first">
    ${
      mayCreateBoards &&
      html`<div class="card">
        <h3>Create the first board</h3>
        <p>Empty, or with four columns: To do, Doing, Review and Done.</p>
        <p class="actions">
          <a class="button primary" href="/app/${workspaceId}/do/boards.create">New board</a>${' '}
          <a class="button" href="/app/${workspaceId}/import">Import a board</a>
        </p>
      </div>`
    }
    <div class="card">
      <h3>Let an agent work on it</h3>
      <p>A program works with an access token of yours. It may do no more than you, and at most what the scope of the token allows.</p>
      <p><a class="button" href="/settings/tokens/new?workspace=${workspaceId}">Create a token</a></p>
      <p class="hint">With the token as <code>TOKEN</code>, this shows that it works:</p>
      <pre class="example"><code>curl ${url}/v1/account -H "Authorization: Bearer $TOKEN"</code></pre>
      <p class="hint">What it can do next is in the <a href="/docs">reference</a>, and for models in <a href="/llms.txt">llms.txt</a>.</p>
    </div>
  </div>`
}
