import type { Delivery } from '../../model/webhook.ts'
import { ApiError } from '../../model/errors.ts'
import { namesInPath, type Operation } from '../../resources/operation.ts'
import { entityTag } from '../../http/preconditions.ts'
import { proofPage, requireProof } from '../account/re-authentication.ts'
import { renderToString } from 'preact-render-to-string'
import { addBase } from '../base-path.ts'
import { searchedText } from '../boards/filters.ts'
import { BOARD_SCRIPTS, ifFound, operationOf, readerOf } from '../reader.ts'
import { SEND_AGAIN } from '../earlier-forms.ts'
import { errorPage, notFoundPage } from '../error-pages.ts'
import { field, formPage, type Refusal } from '../form-page.ts'
import { html, renderMessage } from '../html.ts'
import type { Page, PageResponse, PageView, SignedInContext } from '../page-context.ts'
import { tellingAddress } from '../told.ts'
import { fieldsOf, isAsBefore, isUpdate, readFields } from './fields.ts'
import { FORM_KEY, idempotencyKeyOf, newFormKey, performOnce } from './form-key.ts'
import { columnsOf, renderTemplates } from './board-template.ts'
import { CONFLICT, findStored, isStored, keptText, readConflict } from './conflict.ts'
import { renderFind } from './find-choice.ts'
import { needsProof } from './needs-proof.ts'
import { baseOf, buttonOf, renderFields, titleOf, whereOf } from './form.ts'
import { isSearched, pathOf, readChoices, readPlace, type Place } from './place.ts'
import { askAbout, TAKES_CARD, type AskedClaim } from './taken-claims.ts'
import { doneMembers, doneText, readUndo } from './undo.ts'
import { pathOfWebhooks } from '../webhooks/place.ts'
import { secretPage, type WithSecret } from '../webhooks/secret-page.ts'
import { answerText } from '../webhooks/words.ts'

/**
 * The form of any operation that a person can use: made from its row, and sent through the pipeline. The controls of other pages send the
 * same fields here. With `Accept: application/json` it answers as the scripts of these pages need it.
 */
export const operationPage: Page = {
  path: '/app/{workspace}/do/{operation}',
  anonymous: false,
  callsOperations: true,
  // For a new board, and for a webhook whose form asks the person to prove who they are. A URL may be a secret.
  keeps: ['name', 'template', 'board_id', 'webhook_id', 'kinds', 'enabled', 'after', 'back'],
  get: (context) =>
    withOperation(context, (operation) => ifFound(context, operation.id, () => showForm(context, operation, context.query))),
  post: (context) => withOperation(context, (operation) => performProved(context, operation)),
  showAgain: (context) =>
    withOperation(context, (operation) => refuse(context, operation, { status: 403, error: SEND_AGAIN, isAgain: true })),
}

/** What a person cannot use: a batch is for programs, and a claim belongs to a token. They can end one. */
const FOR_PROGRAMS = /^(?:boards\.batch|claims\.(?!release$)\w+|access\.\w+)$/

/** Whether an operation has a form. */
function hasForm({ id, isRead }: Pick<Operation, 'id' | 'isRead'>): boolean {
  return !isRead && !FOR_PROGRAMS.test(id)
}

async function withOperation(context: SignedInContext, answer: (operation: Operation) => Promise<PageResponse>): Promise<PageResponse> {
  const operation = operationOf(context, context.params['operation']!)
  if (operation === undefined || !hasForm(operation)) return { ...notFoundPage(), audit: false }
  return answer(operation)
}

async function performProved(context: SignedInContext, operation: Operation): Promise<PageResponse> {
  if (!needsProof(operation, context.form)) return perform(context, operation)
  const proved = await requireProof(context)
  if ('title' in proved) return { ...proved, audit: false }
  if (!('context' in proved)) return refuse(context, operation, proved)
  const { session } = proved.context
  return { session, ...(await perform(proved.context, operation)) }
}

/** Why a form is shown again, and what is wrong with its fields. */
interface Shown extends Refusal {
  readonly issues?: ReadonlyMap<string, string>
  readonly isConflict?: boolean
  /** whether it was not tried yet */
  readonly isAgain?: boolean
  /** the claim that the person is asked about */
  readonly claim?: AskedClaim
}

/** @param given what the fields have */
async function showForm(context: SignedInContext, operation: Operation, given: URLSearchParams, shown: Shown = {}): Promise<PageView> {
  const base = baseOf(context)
  const reader = readerOf(context)
  const [name] = namesInPath(operation.path)
  const place = await readPlace(reader, operation, Object.fromEntries(given))
  const resource = name === undefined ? (['workspace', 'me'] as const) : ([name.replace(/_id$/, ''), given.get(name) ?? ''] as const)
  if (!(await reader.allowed(...resource)).has(operation.id))
    return errorPage(403, 'You may not do this', `Row ${operation.row} of the policy does not allow it to you here.`)
  const fields = fieldsOf(operation)
  const q = searchedText((given.get('q') ?? '').trim())
  const choices = new Map(
    await Promise.all(fields.map(async (one) => [one.name, await readChoices(reader, operation, one, place, q)] as const)),
  )
  const conflict = shown.isConflict === true ? await readConflict(reader, operation, given, { place, choices }) : undefined
  const searched = fields.find((one) => one.isRequired && isSearched(one))
  const title = titleOf(operation)
  const typed = nameToType(operation, place)
  const isDeletion = operation.needs[0] === 'delete'
  const back = backOf(context, given) ?? pathOf(base, place)
  const page = needsProof(operation, given) ? proofPage : formPage
  const view = page(
    context,
    {
      title,
      hidden: {
        back,
        // What others have changed since it was written is a conflict when it is sent.
        revision: shown.isAgain === true ? (given.get('revision') ?? undefined) : isUpdate(operation) ? place.target?.revision : undefined,
        over_claim: shown.claim?.epoch,
        [FORM_KEY]: newFormKey(context, operation),
      },
      hasFile: operation.takesUpload,
      above: html`<p class="hint">${whereOf(place)}</p>
        ${searched !== undefined && renderFind({ [name!]: given.get(name!), back }, q, choices.get(searched.name)!)} ${conflict?.said}
        ${NOTES[operation.id]} ${shown.claim !== undefined && renderMessage('warning', shown.claim.shown)}`,
      fields: html`${
        operation.takesUpload
          ? html`<input type="hidden" name=${name} value=${given.get(name!)} />
              <div class="field"><label for="do-file">File</label><input id="do-file" type="file" name="file" required /></div>`
          : renderFields({ base, operation, place, given, choices, conflict, ...shown })
      }
      ${operation.id === 'boards.create' && renderTemplates(given)} ${isDeletion && html`<p>This cannot be undone.</p>`}
      ${typed !== undefined && field({ name: 'confirmed', label: 'Type its name to delete it', hint: html`<bdi>${typed}</bdi>`, required: true, autocomplete: 'off' })}`,
      button: shown.claim !== undefined ? `${buttonOf(operation)} anyway` : conflict === undefined ? buttonOf(operation) : 'Save',
      isDanger: isDeletion || shown.claim !== undefined,
      cancel: back,
    },
    shown,
  )
  return { ...view, scripts: BOARD_SCRIPTS }
}

/** What a person should know before. */
const NOTES: Readonly<Record<string, unknown>> = {
  'webhooks.rotate_secret': html`<p>You get a new secret, which is shown once. The present one signs too for 24 hours.</p>`,
  'webhooks.test': html`<p>A delivery without changes is sent now.</p>`,
}

/** What has to be typed before it is deleted, so that nobody deletes another one. */
function nameToType({ id }: Operation, { board, card }: Place): string | undefined {
  return { 'boards.delete': board?.name, 'cards.delete': card?.title }[id]
}

/** Where the person goes afterwards: a page of this workspace. */
function backOf(context: SignedInContext, given: URLSearchParams): string | undefined {
  // A script knows the page by its whole path.
  const back = context.web.site.innerPath(given.get('back') ?? '')
  return back.startsWith(`${baseOf(context)}/`) && BACK.test(back) ? back : undefined
}
const BACK = /^(?:\/\w[\w.~-]*)+(?:\?[\w.~%!'()*+:@=&-]*)?$/

/** They have agreed to that: the claim is another's, because a person has none. */
const FORCED = { force: 'true' }

async function perform(context: SignedInContext, operation: Operation): Promise<PageResponse> {
  const { form, upload } = context
  const reader = readerOf(context)
  const submitted = readFields(operation, form)
  try {
    if (upload !== undefined && !operation.takesUpload) throw new ApiError('unsupported_media_type', { message: 'This form has no file.' })
    const place = await readPlace(reader, operation, submitted.params)
    const name = nameToType(operation, place)
    if (name !== undefined && form.get('confirmed')?.trim() !== name.trim())
      return refuse(context, operation, { status: 422, error: 'The name is another one. Nothing was deleted.' })
    const isThere = isStored(operation, form, place)
    const claim = TAKES_CARD.test(operation.id) && !isThere ? (place.card?.claim ?? undefined) : undefined
    if (claim !== undefined && form.get('over_claim') !== String(claim.epoch))
      return refuse(context, operation, { status: 409, claim: await askAbout(reader, claim) })
    if (submitted.body !== undefined && operation.method === 'PATCH' && Object.keys(submitted.body).length === 0)
      return done(context, operation, pathOf(reader.base, place))
    const undo = await readUndo(reader, operation, submitted, place)
    // What others have changed of it is no conflict, as long as it is something else.
    const isOther = isAsBefore(form, Object.keys(submitted.body ?? {}), place.target?.record ?? {})
    const present = operation.method === 'PATCH' && isOther ? place.target?.revision : form.get('revision')
    // What is no revision matches nothing: what is there is decided about, and not written again.
    const revision = isThere ? '-' : present
    const ifMatch = revision == null ? undefined : entityTag(/^\w{1,100}$/.test(revision) ? revision : '-')
    // Another version than the person had before them.
    const isNewer = submitted.body !== undefined && isOther && /^\w+$/.test(form.get('revision') ?? '') && form.get('revision') !== present
    const kept = isNewer ? await keptText(reader, operation, place) : undefined
    const body = upload === undefined ? submitted.body : undefined
    const query = operation.id === 'claims.release' ? FORCED : {}
    const key = idempotencyKeyOf(form, operation)
    const data = await performOnce(reader, operation.id, { params: submitted.params, query, body, upload, ifMatch, key })
    if (MAKES_SECRET.test(operation.id) && !isScript(context))
      return { ...secretPage(reader.base, data as WithSecret, operation.status !== 201), audit: false }
    const { id: made } = (data ?? {}) as { readonly id?: string }
    const operations = operation.id === 'boards.create' ? columnsOf(form) : []
    if (operations.length > 0)
      await performOnce(reader, 'boards.batch', { params: { board_id: made }, body: { operations }, key: key && `${key}-columns` })
    const landed = landing(reader.base, operation, place, made)
    if (kept !== undefined) return done(context, operation, landed, { told: { did: operation.id, kept }, text: kept, undo: undefined })
    if (operation.id === 'webhooks.test') return done(context, operation, landed, testResult(data as Delivery))
    const [told, text] = [doneMembers(undo, operation.id), doneText(undo, submitted, operation)]
    return done(context, operation, landed, { told, text, undo, attachment: operation.takesUpload ? made : undefined })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const stored = error.code === 'precondition_failed' ? await findStored(reader, operation, form) : undefined
    if (stored !== undefined) return done(context, operation, pathOf(reader.base, stored))
    return refuseWith(context, operation, error)
  }
}

/** Operations whose answer is the only place where a secret is. */
const MAKES_SECRET = /^webhooks\.(?:create|rotate_secret)$/

/** What the page says of a test: it finds it among the deliveries. */
function testResult(delivery: Delivery): Result {
  return { told: { tested: delivery.id }, text: answerText(delivery), undo: undefined }
}

/** The page that shows what was done. */
function landing(base: string, { needs }: Operation, { card, board, target }: Place, id: string | undefined): string {
  if (needs[0] === 'create_board') return `${base}/boards/${id}`
  if (needs.join(' ') === 'delete Board') return '/app'
  if (needs[1] === 'Webhook' && board !== undefined) return pathOfWebhooks(base, board.id)
  const isGone = needs[0] === 'delete' && target?.kind === 'card'
  return pathOf(base, { ...(card !== undefined && !isGone && { card }), ...(board !== undefined && { board }) })
}

/** What the person is told about the result. */
interface Result {
  /** what the address of the next page tells, unless a script has sent the form */
  readonly told: Readonly<Record<string, string>> | undefined
  readonly text: string | undefined
  readonly undo: unknown
  /** that was made of a file */
  readonly attachment?: string | undefined
}

/** The pipeline has added the entry of the audit trail. */
function done(context: SignedInContext, { needs }: Operation, landed: string, result?: Result): PageResponse {
  const location = (needs[0] === 'delete' || needs[0] === 'create_board' ? undefined : backOf(context, context.form)) ?? landed
  if (isScript(context))
    return {
      json: { location: context.web.site.outerAddress(location), text: result?.text, undo: result?.undo, attachment: result?.attachment },
      audit: false,
    }
  const told = result?.told
  return { redirect: told === undefined ? location : tellingAddress(context, location.split('?')[0]!, told), audit: false }
}

function isScript({ request }: SignedInContext): boolean {
  return request.headers.get('accept') === 'application/json'
}

/** What a refused request says: the words of the row that decided, and what is wrong with each field. */
async function refuseWith(context: SignedInContext, operation: Operation, error: ApiError): Promise<PageResponse> {
  const { code, message, status } = error
  if (code === 'not_found' && error.details.members?.['parameter'] === undefined && !isScript(context))
    return { ...notFoundPage(), audit: false }
  const {
    issues = [],
    row,
    reason,
  } = (error.details.members ?? {}) as {
    readonly issues?: readonly { readonly path: string; readonly message: string }[]
    readonly row?: string
    readonly reason?: string
  }
  const texts = new Map(issues.map(({ path, message: text }) => [path.split('.')[0]!, text]))
  const labels = new Map(fieldsOf(operation).map(({ name, label }) => [name, label]))
  const isConflict = code === 'precondition_failed'
  const text = isConflict
    ? CONFLICT
    : code === 'forbidden'
      ? `You may not do this. Row ${row} of the policy: ${reason}`
      : code === 'idempotency_key_reused'
        ? 'This form was sent before, with another file. Choose the file again to attach it, too.'
        : issues.length > 0
          ? `Please check: ${[...texts].map(([path, of]) => `${labels.get(path) ?? path} ${of}`).join('; ')}.`
          : message
  if (status === 403 && !isScript(context)) return { ...errorPage(403, 'You may not do this', text), audit: false }
  return refuse(context, operation, { status, error: text, issues: texts, isConflict, headers: { ...error.details.headers } })
}

async function refuse(context: SignedInContext, operation: Operation, shown: Shown): Promise<PageResponse> {
  const { status = 422, error, claim, isConflict } = shown
  const show = () => ifFound(context, operation.id, () => showForm(context, operation, context.form, shown))
  if (!isScript(context)) return { ...(await show()), audit: false }
  const form = isConflict === true ? htmlOf(context, await show()) : undefined
  return { json: { error: error ?? claim!.text, over_claim: claim?.epoch, form }, status, audit: false }
}

/** A form for the script to show; undefined: what it is about is gone by now. */
function htmlOf({ web }: SignedInContext, page: PageResponse): string | undefined {
  return 'body' in page && page.status === 412 ? addBase(web.site.base, renderToString(page.body)) : undefined
}
