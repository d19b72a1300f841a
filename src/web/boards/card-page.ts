import { download } from '../../http/download.ts'
import type { Page } from '../page-context.ts'
import { readCard } from './card-data.ts'
import { renderCard } from './card-view.ts'
import { BOARD_SCRIPTS, workspacePage } from './reader.ts'

/** A card: its text, subtasks, attachments and comments. */
export const cardPage = workspacePage('cards/{card}', 'cards.read', async (reader) => {
  const data = await readCard(reader)
  return { title: `${data.card.title} · ${data.board.name}`, body: renderCard(reader, data), scripts: BOARD_SCRIPTS }
})

/** The bytes of an attachment, for images on pages and to store. They have the headers of a download of the API: nothing in them runs. */
export const attachmentPage: Page = {
  ...workspacePage('attachments/{attachment}', 'attachments.download', async ({ context, answer }) => {
    const { web, params, request, requestId } = context
    const found = await answer('attachments.download', { params: { attachment_id: params['attachment'] } })
    if (found.kind !== 'download') throw new TypeError('a download has a file')
    const response = await download(requestId, request.method, request.headers, found.file, web.services().blobs)
    response.headers.set('vary', 'Cookie')
    return { raw: response }
  }),
  isPart: true,
}
