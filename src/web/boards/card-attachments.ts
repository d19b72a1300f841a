import type { VNode } from 'preact'
import { fileVisibilities, type Attachment } from '../../model/file.ts'
import { html } from '../html.ts'
import { sizeText } from '../size-text.ts'
import { operationForm } from '../operations/form.ts'
import type { CardData } from './card-data.ts'
import { oneMore, renderPart } from './card-part.ts'
import { doButton, doLink, editor, menu, type Controls } from './controls.ts'
import { icon } from './icons.ts'
import { isShown } from './references.ts'

/** The files of a card, with a form for one more. */
export function renderAttachments(data: CardData, controls: Controls, base: string): VNode | undefined {
  const { card, attachments } = data
  const attaching = controls.may.has('attachments.upload')
    ? editor('attach', oneMore('Attachment'), '', renderUpload(card.id, controls))
    : undefined
  const isEmpty = attachments.length === 0
  if (isEmpty && attaching === undefined) return undefined
  const list =
    !isEmpty &&
    html`<ul class="attachments" id="attachment-list" data-merge>
      ${attachments.map((attachment) => renderAttachment(attachment, data, controls, base))}
    </ul>`
  const heading = html`Attachments${!isEmpty && html` <span class="count">${attachments.length}</span>`}`
  return renderPart({ name: 'attachments', heading, isEmpty, content: html`${list} ${attaching}` })
}

function renderAttachment(attachment: Attachment, { card, may }: CardData, controls: Controls, base: string): VNode {
  const { id, file_id, name, size, visibility } = attachment
  const path = `${base}/attachments/${id}`
  const isCover = card.cover_attachment_id === id
  const ofFile = { context: controls.context, may: may.attachments.get(id)! }
  return html`<li id=${id}>
    <a href=${path} download=${name} data-picture=${isShown(attachment) ? (ofFile.may.has('files.update') ? 'own' : '') : undefined}>
      ${isShown(attachment) ? html`<img src=${`${path}/preview`} alt="" loading="lazy" decoding="async" />` : html`<span class="no-image">${icon('file')}</span>`}
      <span class="file-name" dir="auto">${name}</span>
    </a>
    <div class="file-line">
      <span class="hint">${sizeText(size)}${isCover && ' · cover'}${visibility === 'private' && ' · private file'}</span>
      ${menu(`${id}-more`, `“${name}”`, [
        isCover
          ? doButton(controls, 'cards.clear_cover', { card_id: card.id }, 'Remove as cover')
          : isShown(attachment) && doButton(ofFile, 'cards.set_cover', { card_id: card.id, attachment_id: id }, 'Set as cover'),
        doLink(ofFile, 'files.update', { file_id }, 'Who can use this file'),
        doLink(ofFile, 'attachments.detach', { attachment_id: id }, 'Detach'),
      ])}
    </div>
  </li>`
}

const VISIBILITIES = { board: 'Shared with the board', workspace: 'Shared with the workspace', private: 'Only mine to attach' } as const

/** The fields before the file are read first: see `readUploadForm`. */
function renderUpload(cardId: string, { context }: Controls): VNode {
  const most = context.web.services().uploadBytes
  const content = html`<select name="visibility" aria-label="Who else can use the file">
      ${fileVisibilities.toSorted().map((one) => html`<option value=${one}>${VISIBILITIES[one]}</option>`)}
    </select>
    <input type="file" name="file" required aria-label="File to attach" data-most=${most} />
    <button class="small">Attach<span class="unseen"> file</span></button>
    <span class="hint">At most ${sizeText(most)}.</span>`
  return operationForm(context, 'attachments.upload', { card_id: cardId }, content, 'inline add')
}
