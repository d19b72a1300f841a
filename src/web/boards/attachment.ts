import { download } from '../../http/download.ts'
import type { Page } from '../page-context.ts'
import { readerOf } from './reader.ts'
import { ifFound } from './responses.ts'

/** The bytes of an attachment, for images on pages and to store. They have the headers of a download of the API: nothing in them runs. */
export const attachmentPage: Page = {
  path: '/app/{workspace}/attachments/{attachment}',
  anonymous: false,
  isPart: true,
  get: (context) =>
    ifFound(context, 'attachments.download', async () => {
      const { web, params, request, requestId } = context
      const of = { attachment_id: params['attachment']! }
      const answer = await readerOf(context, params['workspace']!).answer('attachments.download', of)
      if (answer.kind !== 'download') throw new TypeError('a download has a file')
      const response = await download(requestId, request.method, request.headers, answer.file, web.services().blobs)
      response.headers.set('vary', 'Cookie')
      return { raw: response }
    }),
}
