import type { FileAccess, HomeAccess } from '../../authz/context.ts'
import type { Awaitable } from '../../model/awaitable.ts'
import { card, type Card } from '../../model/card.ts'
import { conflict, notFound } from '../../model/errors.ts'
import type { AttachmentRecord } from '../../model/file.ts'
import { isShowable } from '../../model/picture.ts'
import { keys } from '../../store/keys.ts'
import { memberOf } from '../../store/reads.ts'
import { operation, type OperationRequest } from '../operation.ts'
import { keepAssignment } from '../pending-removals.ts'
import { cardAndClaim, fileReads, idOf, relatedUser, requireFound, toFile, type FileRecords } from '../targets.ts'
import { capacityMessage, requireCapacityOf } from '../capacity.ts'
import { saveCard } from './save.ts'
import { cardCover } from './schema.ts'

const NO_PICTURE =
  'The cover of a card must be a picture in PNG, JPEG, GIF or WebP, of at most 40 megapixels, whose size stands in its first 256 KiB. This attachment is not one.'

type Write = Pick<OperationRequest, 'tx' | 'clock'>
const capacityOf = { assignee_ids: 'assigneesPerCard', label_ids: 'labelsPerCard' } as const
type Ids = keyof typeof capacityOf
type Removable = Ids | 'blocker_ids'

/** Adds an id to a list of the card. If it is there already, nothing is written. */
function addId(request: Write, loaded: Card, list: Ids, id: string): Awaitable<{ data: Card }> {
  if (loaded[list].includes(id)) return { data: loaded }
  requireCapacityOf(loaded[list].length, capacityOf[list])
  return saveCard(request, loaded, { [list]: [...loaded[list], id] })
}

/** Removes an id from a list of the card. */
export function removeId(request: Write, loaded: Card, list: Removable, id: string): Awaitable<{ data: Card }> {
  return saveCard(request, loaded, { [list]: loaded[list].filter((other) => other !== id) })
}

/**
 * What the removal of an id from a list of the card examines and does.
 * @param name the member of the path that has the id
 */
export function removalOfId(list: Removable, name: string) {
  return {
    async related({ params }: Pick<OperationRequest, 'params'>, { card: loaded }: { readonly card: Card }) {
      if (!loaded[list].includes(params[name]!)) throw notFound(name)
      return {}
    },
    run: (request: Write & Pick<OperationRequest, 'params'>, { card: loaded }: { readonly card: Card }) =>
      removeId(request, loaded, list, request.params[name]!),
  }
}

/** An attachment, and what decides who has access to its file. */
function attachmentReads(id: string, userId: string) {
  const attachment = keys.attachment(id)
  return [attachment, ...fileReads(keys.file(memberOf(attachment, 'file_id')), userId)] as const
}
/** The number of {@link attachmentReads}. */
const ATTACHMENT_READS = 5
type AttachmentRecords = readonly [AttachmentRecord | undefined, ...FileRecords]

/** What decides who may change the cover of a card; nothing if it has none. */
function coverReads({ cover_attachment_id: id }: Card, userId: string) {
  return id === null ? [] : attachmentReads(id, userId)
}

/** The context of a decision about the present cover of a card. */
interface CoverContext {
  readonly cover: object | null
  readonly file: FileAccess
  readonly home: HomeAccess
}

/** A card without a cover has no file. These facts grant no access. */
const NO_COVER: CoverContext = {
  cover: null,
  file: { owner_id: '', visibility: 'private' },
  home: { board: undefined, boardMember: undefined },
}

/** @param records what {@link coverReads} has read */
function toCover({ cover_attachment_id: id }: Card, records: readonly unknown[]): CoverContext {
  if (id === null) return NO_COVER
  const [cover, ...file] = records as unknown as AttachmentRecords
  return { cover: requireFound(cover), ...toFile(file) }
}

/** The assignees, labels and cover of a card (spec §5: rows P12, P15). */
export const cardRelationOperations = [
  operation({
    id: 'cards.assign',
    method: 'PUT',
    path: '/cards/{card_id}/assignees/{user_id}',
    summary: 'Assigns a user who has access to the board. Repeating it changes nothing.',
    needs: ['assign', 'Card'],
    row: 'P12',
    data: card,
    conflicts: [capacityMessage('assigneesPerCard')],
    target: cardAndClaim,
    related: relatedUser,
    async run(request, { card: current, user: { membership } }) {
      await keepAssignment(request.tx, current, membership.user_id)
      return addId(request, current, 'assignee_ids', membership.user_id)
    },
  }),

  operation({
    id: 'cards.unassign',
    method: 'DELETE',
    path: '/cards/{card_id}/assignees/{user_id}',
    summary: 'Removes an assignee from a card, whether or not they still have access to the board.',
    needs: ['unassign', 'Card'],
    row: 'P12',
    data: card,
    target: cardAndClaim,
    ...removalOfId('assignee_ids', 'user_id'),
  }),

  operation({
    id: 'cards.apply_label',
    method: 'PUT',
    path: '/cards/{card_id}/labels/{label_id}',
    summary: 'Applies a label of the board to a card. Repeating it changes nothing.',
    needs: ['apply_label', 'Card'],
    row: 'P12',
    data: card,
    conflicts: [capacityMessage('labelsPerCard')],
    target: cardAndClaim,
    related: async ({ tx, params }) => ({
      label: requireFound(await tx.get(keys.label(idOf('label', params['label_id'], 'label_id'))), 'label_id'),
    }),
    run: (request, loaded) => addId(request, loaded.card, 'label_ids', loaded.label.id),
  }),

  operation({
    id: 'cards.remove_label',
    method: 'DELETE',
    path: '/cards/{card_id}/labels/{label_id}',
    summary: 'Removes a label from a card.',
    needs: ['remove_label', 'Card'],
    row: 'P12',
    data: card,
    target: cardAndClaim,
    ...removalOfId('label_ids', 'label_id'),
  }),

  operation({
    id: 'cards.set_cover',
    method: 'PUT',
    path: '/cards/{card_id}/cover',
    summary: 'Makes an image that is attached to a card its cover.',
    needs: ['set_cover', 'Card'],
    row: 'P15',
    body: cardCover,
    data: card,
    conflicts: [NO_PICTURE],
    example: { body: { attachment_id: '{attachment_id}' } },
    target: cardAndClaim,
    async related({ tx, body, caller: { userId } }, loaded) {
      const id = idOf('attachment', body.attachment_id, 'attachment_id')
      const present = coverReads(loaded.card, userId)
      const records: readonly unknown[] = await tx.read([...attachmentReads(id, userId), ...present])
      const [attachment, ...file] = records as unknown as AttachmentRecords
      if (attachment?.card_id !== loaded.card.id) throw notFound('attachment_id')
      return { attachment, ...toFile(file), present: toCover(loaded.card, records.slice(ATTACHMENT_READS)) }
    },
    // The attachment replaces the present cover, which is then cleared.
    also: [
      {
        member: 'attachment_id',
        parameter: 'attachment_id',
        permission: 'clear_cover Card',
        row: 'P15',
        contexts: ({ present }) => [present],
      },
    ],
    async run(request, { card: current, attachment, file: { picture } }) {
      // The type of a file from before pictures were read is determined when it is shown.
      const isFit = picture === undefined ? attachment.content_type.startsWith('image/') : picture !== null && isShowable(picture)
      if (!isFit) throw conflict(NO_PICTURE)
      return saveCard(request, current, { cover_attachment_id: attachment.id })
    },
  }),

  operation({
    id: 'cards.clear_cover',
    method: 'DELETE',
    path: '/cards/{card_id}/cover',
    summary: 'Removes the cover of a card. Without a cover, nothing changes.',
    needs: ['clear_cover', 'Card'],
    row: 'P15',
    data: card,
    target: cardAndClaim,
    async related({ tx, caller }, { card: current }) {
      const reads = coverReads(current, caller.userId)
      return toCover(current, reads.length === 0 ? [] : await tx.read(reads))
    },
    run: (request, { card: current }) => saveCard(request, current, { cover_attachment_id: null }),
  }),
]
