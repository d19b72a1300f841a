import type { VNode } from 'preact'
import type { Done } from '../../http/outcome.ts'
import type { Board } from '../../model/board.ts'
import { ApiError } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { errorPage, notFoundPage } from '../error-pages.ts'
import { field, formPage, postForm, type FormPage, type Refusal } from '../form-page.ts'
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
  const [name, template] = ['name', 'template'].map((key) => form.get(key) ?? query.get(key) ?? '') as [string, string]
  return formPage({ ...boardForm(context, context.params['workspace']!, name, template), title: 'New board', cancel: '/app' }, refusal)
}

/** The form of a new board. */
function boardForm(
  { session }: SignedInContext,
  workspaceId: string,
  name = '',
  template = '',
): Pick<FormPage, 'action' | 'token' | 'fields' | 'button'> {
  const fields = html`${field({ name: 'name', label: 'Name', value: name, required: true, maxlength: limits.boardName, autocomplete: 'off' })}
    <div class="field">
      <label for="template">Begin with</label>
      <select id="template" name="template">
        ${Object.entries(templates).map(([value, { name: text }]) => html`<option value=${value} selected=${value === template}>${text}</option>`)}
      </select>
    </div>`
  return { action: `/app/${workspaceId}/new-board`, token: session.form_token, fields, button: 'Create board' }
}

/** What a workspace without boards shows: its first board, and the first token of an agent with the command that shows that it works. */
export function renderFirst(context: SignedInContext, workspaceId: string, mayCreateBoards: boolean): VNode {
  const { fields, button, ...form } = boardForm(context, workspaceId)
  return html`<div class="first">
    ${
      mayCreateBoards &&
      html`<section class="card" aria-label="The first board">
        <h3>Create the first board</h3>
        ${postForm(
          {
            ...form,
            fields: html`${fields}
              <p class="actions"><button class="primary">${button}</button></p>`,
          },
          '',
        )}
      </section>`
    }
    <section class="card" aria-label="The first token">
      <h3>Let an agent work on it</h3>
      <p>A program works with an access token of yours. It gets no more than you may do, and at most what the scope of the token allows.</p>
      <p><a class="button" href="/settings/tokens/new?workspace=${workspaceId}">Create a token</a></p>
      <p class="hint">With the token as <code>TOKEN</code>, this shows that it works:</p>
      <pre class="example"><code>curl ${context.origin}/v1/account -H "Authorization: Bearer $TOKEN"</code></pre>
      <p class="hint">What it can do next is in the <a href="/docs">reference</a>, and for models in <a href="/llms.txt">llms.txt</a>.</p>
    </section>
  </div>`
}
