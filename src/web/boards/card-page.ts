import { download } from '../../http/download.ts'
import { ApiError } from '../../model/errors.ts'
import type { FileRecord } from '../../model/file.ts'
import { isShowable, PICTURE_HEAD, pictureOf } from '../../model/picture.ts'
import type { Page, PageResponse } from '../page-context.ts'
import { readCard } from './card-data.ts'
import { renderCard } from './card-view.ts'
import { BOARD_SCRIPTS, workspacePage, type Reader } from '../reader.ts'

/** A card: its text, subtasks, attachments and comments. */
export const cardPage = workspacePage('cards/{card}', 'cards.read', async (reader) => {
  const data = await readCard(reader)
  return { title: `${data.card.title} · ${data.board.name}`, body: renderCard(reader, data), scripts: BOARD_SCRIPTS }
})

/** The bytes of an attachment, to store. They have the headers of a download of the API: nothing in them runs. */
export const attachmentPage: Page = {
  ...workspacePage('attachments/{attachment}', 'attachments.download', async (reader) => send(reader, await fileOf(reader))),
  isPart: true,
}

/** The same for the pictures of pages: only what is one by its bytes, with the type of these, and not too large to be shown. */
export const picturePage: Page = {
  ...workspacePage('attachments/{attachment}/picture', 'attachments.download', async (reader) => {
    const file = await fileOf(reader)
    // Files from before pictures were read do not have it.
    const picture = file.picture === undefined ? pictureOf(await readHead(reader, file)) : file.picture
    if (picture == null || !isShowable(picture)) throw new ApiError('not_found')
    return send(reader, file, picture.type)
  }),
  isPart: true,
}

async function fileOf({ context, answer }: Reader): Promise<FileRecord> {
  const found = await answer('attachments.download', { params: { attachment_id: context.params['attachment'] } })
  if (found.kind !== 'download') throw new TypeError('a download has a file')
  return found.file
}

async function readHead({ context }: Reader, { blob_id, size }: FileRecord): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of context.web.services().blobs.read(blob_id, 0, Math.min(size, PICTURE_HEAD))) parts.push(part)
  return Buffer.concat(parts)
}

async function send({ context }: Reader, file: FileRecord, type?: string): Promise<PageResponse> {
  const { web, request, requestId } = context
  const response = await download(requestId, request.method, request.headers, file, web.services().blobs, {}, type)
  response.headers.set('vary', 'Cookie')
  return { raw: response }
}
