import type { VNode } from 'preact'
import type { Done } from '../../http/outcome.ts'
import type { Board } from '../../model/board.ts'
import { ApiError } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { errorPage, notFoundPage } from '../error-pages.ts'
import { field, formPage, type Refusal } from '../form-page.ts'
import { html } from '../html.ts'
import { workspaceOf } from '../memberships.ts'
import type { Page, PageView, SignedInContext } from '../page-context.ts'
import { readerOf } from './reader.ts'

/** What a new board begins with: value → its name and its columns. */
const templates: Readonly<Record<string, { readonly name: string; readonly columns: readonly string[] }>> = {
  columns: { name: 'Four columns: To do, Doing, Review, Done', columns: ['To do', 'Doing', 'Review', 'Done'] },
  empty: { name: 'Empty', columns: [] },
}

/** Creates a board, with the columns of a template. */
export const newBoardPage: Page = {
  path: '/app/{workspace}/new-board',
  anonymous: false,
  callsOperations: true,
  keeps: ['name', 'template'],
  get: async (context) => (await mayCreate(context)) ?? showForm(context),
  async post(context) {
    const { params, form } = context
    const reader = readerOf(context, params['workspace']!)
    try {
      const { data } = (await reader.answer('boards.create', { body: { name: form.get('name') ?? '' } })) as Done
      const { id } = data as Board
      const operations = (templates[form.get('template') ?? '']?.columns ?? []).map((name) => ({
        operation: 'columns.create',
        body: { name },
      }))
      if (operations.length > 0) await reader.answer('boards.batch', { params: { board_id: id }, body: { operations } })
      return { redirect: `/app/${params['workspace']}/boards/${id}`, audit: false }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.code === 'not_found') return { ...notFoundPage(), audit: false }
      return { ...showForm(context, { status: error.status, error: error.message }), audit: false }
    }
  },
}

/** @returns the page to show instead if the person may not create a board */
async function mayCreate(context: SignedInContext): Promise<PageView | undefined> {
  const { web, session, params } = context
  if ((await workspaceOf(web, session.user_id, params['workspace']!)) === undefined) return notFoundPage()
  if ((await readerOf(context, params['workspace']!).allowed('workspace', 'me')).has('boards.create')) return undefined
  return errorPage(403, 'You may not do this', 'The policy does not allow you to create a board here.')
}

function showForm(context: SignedInContext, refusal?: Refusal): PageView {
  const { form, query } = context
  const given = (key: string) => form.get(key) ?? query.get(key) ?? ''
  const fields = html`${field({ name: 'name', label: 'Name', value: given('name'), required: true, maxlength: limits.boardName, autocomplete: 'off' })}
    <div class="field">
      <label for="template">Begin with</label>
      <select id="template" name="template">
        ${Object.entries(templates).map(([value, { name }]) => html`<option value=${value} selected=${value === given('template')}>${name}</option>`)}
      </select>
    </div>`
  return formPage(context, { title: 'New board', fields, button: 'Create board', cancel: '/app' }, refusal)
}

/** What a workspace without boards shows: the way to its first board, and to the first token, with the command that shows that it works. */
export function renderFirst({ origin }: SignedInContext, workspaceId: string, mayCreateBoards: boolean): VNode {
  return html`<div class="first">
    ${
      mayCreateBoards &&
      html`<div class="card">
        <h3>Create the first board</h3>
        <p>Empty, or with four columns: To do, Doing, Review and Done.</p>
        <p><a class="button primary" href="/app/${workspaceId}/new-board">New board</a></p>
      </div>`
    }
    <div class="card">
      <h3>Let an agent work on it</h3>
      <p>A program works with an access token of yours. It may do no more than you, and at most what the scope of the token allows.</p>
      <p><a class="button" href="/settings/tokens/new?workspace=${workspaceId}">Create a token</a></p>
      <p class="hint">With the token as <code>TOKEN</code>, this shows that it works:</p>
      <pre class="example"><code>curl ${origin}/v1/account -H "Authorization: Bearer $TOKEN"</code></pre>
      <p class="hint">What it can do next is in the <a href="/docs">reference</a>, and for models in <a href="/llms.txt">llms.txt</a>.</p>
    </div>
  </div>`
}
