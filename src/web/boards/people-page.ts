import type { Page } from '../page-context.ts'
import { readAll, workspacePage } from '../reader.ts'
import { MAX_PAGES, type Member } from './people.ts'

/**
 * Whom a text on a board can mention, by name, for the script of its editors: those who can read the board. What a person does in the web
 * app is no notice to themself, so they are left out.
 */
export const peoplePage: Page = {
  ...workspacePage('boards/{board}/people', 'boards.assignable', async (reader) => {
    const of = { board_id: reader.context.params['board']! }
    const { items } = await readAll<Member>(reader, ['boards.assignable', of], MAX_PAGES)
    const others = items.filter(({ user_id }) => user_id !== reader.context.session.user_id)
    const names = others.map(({ display_name }) => display_name)
    const isShared = (name: string) => names.indexOf(name) !== names.lastIndexOf(name)
    const people = others
      .map(({ user_id, display_name }) => ({
        id: user_id,
        name: isShared(display_name) ? `${display_name} (${user_id.slice(-4)})` : display_name,
      }))
      .toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
    return { json: { people }, audit: false }
  }),
  isPart: true,
}
