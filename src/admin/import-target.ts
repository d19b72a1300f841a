import type { Board } from '../model/board.ts'
import { keys } from '../store/keys.ts'
import { AdminError, type AdminDeps } from './deps.ts'

/** What any import has to know of the service. */
export interface ImportLimits {
  /** the bytes that the file of an attachment may have */
  readonly upload_bytes: number
}

/** What a further import has to know of a board. */
export interface ImportTarget {
  readonly board_id: string
  readonly name: string
  readonly visibility: Board['visibility']
  /** its active columns and its labels */
  readonly columns: readonly { readonly id: string; readonly name: string }[]
  readonly labels: readonly { readonly id: string; readonly name: string }[]
  /** who can be assigned; null: every member of the workspace */
  readonly members: readonly string[] | null
  /** the cards that an import can find again */
  readonly cards: readonly TargetCard[]
}

/** A card that has an `external_ref`. */
export interface TargetCard {
  readonly id: string
  readonly external_ref: string
  readonly completed: boolean
  readonly label_ids: readonly string[]
  /** the first lines of its comments: an import names the author and the time there */
  readonly comments: readonly string[]
}

/** The part of a first line that tells comments apart. */
const LINE_LENGTH = 300

/**
 * Reads what a further import into a board has to know.
 * @param user who imports: they must have access to the board
 * @throws {AdminError} `not_found`
 */
export async function readImportTarget(
  deps: AdminDeps,
  { workspace, user, board }: { readonly workspace: string; readonly user: string; readonly board: string },
): Promise<ImportTarget> {
  if (deps.sendAs === undefined) throw new TypeError('this process makes no requests')
  const found = (await deps
    .sendAs(workspace, user)('GET', `/boards/${encodeURIComponent(board)}`)
    .catch((error: Error) => {
      throw new AdminError('not_found', `--into: ${error.message}`)
    })) as Board
  const columns: { id: string; name: string }[] = []
  const labels: { id: string; name: string }[] = []
  const members = new Set([found.creator_id])
  const cards = new Map<string, TargetCard & { readonly comments: string[] }>()
  for await (const batch of deps.store.dump(workspace))
    for (const [key, value] of batch) {
      const record = value as unknown as Readonly<Record<string, any>>
      if (record['board_id'] !== board) continue
      const { id, name, external_ref, label_ids, completed_at, archived_at, user_id } = record
      if (key.startsWith('board_member:')) members.add(user_id)
      else if (key === keys.column(id) && archived_at === null) columns.push({ id, name })
      else if (key === keys.label(id)) labels.push({ id, name })
      else if (key === keys.card(id) && external_ref !== null)
        cards.set(id, { id, external_ref, label_ids, completed: completed_at !== null, comments: [] })
    }
  for await (const batch of deps.store.dump(workspace))
    for (const [key, { card_id, body }] of batch)
      if (key.startsWith('comment:')) cards.get(card_id as string)?.comments.push((body as string).split('\n', 1)[0]!.slice(0, LINE_LENGTH))
  const { name, visibility } = found
  return {
    board_id: board,
    name,
    visibility,
    columns,
    labels,
    members: visibility === 'private' ? [...members] : null,
    cards: [...cards.values()],
  }
}
