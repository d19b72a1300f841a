import { download } from '../../http/download.ts'
import { readCard } from './card-data.ts'
import { renderCard } from './card-view.ts'
import { BOARD_SCRIPTS, ifFound, readerOf } from './reader.ts'
import type { Page } from '../page-context.ts'

/** A card: its text, subtasks, attachments and comments. */
export const cardPage: Page = {
  path: '/app/{workspace}/cards/{card}',
  anonymous: false,
  get: (context) =>
    ifFound(context, 'cards.read', async () => {
      const data = await readCard(context)
      const body = renderCard(data, `/app/${context.params['workspace']}`, context)
      const title = `${data.card.title} · ${data.board.name}`
      return { title, body, scripts: BOARD_SCRIPTS }
    }),
}

/** The bytes of an attachment, for images on pages and to store. They have the headers of a download of the API: nothing in them runs. */
export const attachmentPage: Page = {
  path: '/app/{workspace}/attachments/{attachment}',
  anonymous: false,
  isPart: true,
  get: (context) =>
    ifFound(context, 'attachments.download', async () => {
      const { web, params, request, requestId } = context
      const of = { attachment_id: params['attachment'] }
      const answer = await readerOf(context, params['workspace']!).answer('attachments.download', { params: of })
      if (answer.kind !== 'download') throw new TypeError('a download has a file')
      const response = await download(requestId, request.method, request.headers, answer.file, web.services().blobs)
      response.headers.set('vary', 'Cookie')
      return { raw: response }
    }),
}
