import type { Board } from '../../model/board.ts'
import type { Attachment } from '../../model/file.ts'
import { isShowable } from '../../model/picture.ts'
import type { ListedCard } from '../listed-card.ts'
import { REFERENCE, type Known } from '../markdown.ts'
import type { Reader } from '../reader.ts'

/** Cards and boards of the texts of one page that are read for their titles. Others are shown as text. */
const MOST = 20

/** Reads the titles of the cards and boards that texts name by their ids, where the person may read these. */
export async function readReferences(reader: Reader, texts: readonly string[]): Promise<NonNullable<Known['linkOf']>> {
  const ids = [...new Set(texts.flatMap((text) => Array.from(text.matchAll(REFERENCE), ([, id]) => id!)))].slice(0, MOST)
  const titles = await Promise.all(
    ids.map(async (id) =>
      id.startsWith('crd')
        ? (await reader.find<ListedCard>('cards.read', { card_id: id }))?.title
        : (await reader.find<Board>('boards.read', { board_id: id }))?.name,
    ),
  )
  const known = new Map(ids.map((id, i) => [id, titles[i]]))
  return (id) => {
    const title = known.get(id)
    return title === undefined ? undefined : { href: `${reader.base}/${id.startsWith('crd') ? 'cards' : 'boards'}/${id}`, title }
  }
}

/** Whether an attachment is shown as a picture. Other files are links. */
export const isShown = ({ picture }: Attachment): boolean => picture !== null && isShowable(picture)

/** Finds pictures of a card by the names of their files, and by addresses that end with their ids, as an API or a page has them. */
export function picturesOf(attachments: readonly Attachment[], base: string): NonNullable<Known['pictureOf']> {
  return (address) => {
    const id = /\batt_\w+/.exec(address)?.[0]
    const name = decoded(address).replace(/^\.\//, '')
    const found = attachments.find((one) => isShown(one) && (one.id === id || one.name === name))
    return found && `${base}/attachments/${found.id}/picture`
  }
}

/** An address as it was written: the parser has encoded what an address may not have. */
function decoded(address: string): string {
  try {
    return decodeURIComponent(address)
  } catch {
    return address
  }
}
