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
      const { download: file } = await readerOf(context, params['workspace']!).read('attachments.download', {
        attachment_id: params['attachment']!,
      })
      const response = await download(requestId, request.method, request.headers, file!, web.services().blobs)
      response.headers.set('vary', 'Cookie')
      return { raw: response }
    }),
}
