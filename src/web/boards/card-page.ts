import type { Page } from '../page-context.ts'
import { readCard } from './card-data.ts'
import { renderCard } from './card-view.ts'
import { BOARD_SCRIPTS, ifFound } from './responses.ts'

/** A card: its text, subtasks, attachments and comments. */
export const cardPage: Page = {
  path: '/app/{workspace}/cards/{card}',
  anonymous: false,
  get: (context) =>
    ifFound(context, 'cards.read', async () => {
      const data = await readCard(context)
      const body = renderCard(data, `/app/${context.params['workspace']}`, context)
      const title = `${data.card.title} · ${data.board.name}`
      return { title, body, layout: 'medium', scripts: BOARD_SCRIPTS }
    }),
}
