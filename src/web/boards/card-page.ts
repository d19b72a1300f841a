import { readCard } from './card-data.ts'
import { renderCard } from './card-view.ts'
import { BOARD_SCRIPTS, workspacePage } from '../reader.ts'

/** A card: its text, subtasks, attachments and comments. */
export const cardPage = workspacePage('cards/{card}', 'cards.read', async (reader) => {
  const data = await readCard(reader)
  return { title: `${data.card.title} · ${data.board.name}`, body: renderCard(reader, data), scripts: BOARD_SCRIPTS }
})
