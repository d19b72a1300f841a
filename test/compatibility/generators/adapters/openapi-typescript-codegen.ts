import {
  type ApiError,
  AttachmentsService,
  BoardsService,
  CardsService,
  ClaimsService,
  ColumnsService,
  LabelsService,
  OpenAPI,
} from '../../.generated/openapi-typescript-codegen/index.ts'
import type { Connect } from '../../scenario.ts'

type Form = Parameters<typeof AttachmentsService.attachmentsUpload>[1]

export const connect: Connect = (url, token) => {
  // Its settings are global: each call sets them.
  const call = async (send: () => Promise<unknown>) => {
    Object.assign(OpenAPI, { BASE: url, TOKEN: token })
    return send().catch((error: unknown) => (error as ApiError).body as unknown)
  }
  const none = undefined
  return {
    createBoard: (name) => call(() => BoardsService.boardsCreate({ name })),
    createColumn: (id, name) => call(() => ColumnsService.columnsCreate(id, { name })),
    createLabel: (id, name) => call(() => LabelsService.labelsCreate(id, { name, color: '#aa3300' })),
    createCard: (id, card) => call(() => CardsService.cardsCreate(id, card)),
    search: ({ q, board_id, column_id, include }) =>
      call(
        () =>
        CardsService.cardsSearch(
          20, none, board_id, column_id, none, none, none, none, none, false, q, none, none, none, none, none, none, include,
        ), // prettier-ignore
      ),
    claim: (id) => call(() => ClaimsService.claimsTake(id, false, none, none, { ttl: 60 })),
    ask: (id, epoch, question) => call(() => ClaimsService.claimsAsk(id, { question }, false, none, epoch)),
    answer: (id, body) => call(() => CardsService.cardsAnswer(id, { body })),
    fail: (id, epoch, reason) => call(() => ClaimsService.claimsFail(id, { reason, retry_after: 0 }, false, epoch)),
    complete: (id, epoch) => call(() => CardsService.cardsComplete(id, { completed: true }, false, none, epoch)),
    rename: (id, etag, title) => call(() => CardsService.cardsUpdate(id, { title }, false, etag)),
    upload: (id, file) => call(() => AttachmentsService.attachmentsUpload(id, { file } satisfies Form)),
    // It reads every answer that is not JSON as text.
    download: (id) => call(() => AttachmentsService.attachmentsDownload(id)),
    makePrivate: (id) => call(() => BoardsService.boardsSetVisibility(id, { visibility: 'private' as never })),
    deleteBoard: (id) => call(() => BoardsService.boardsDelete(id)),
  }
}
