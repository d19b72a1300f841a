import { ApiError } from '../../model/errors.ts'
import type { BoardSnapshot } from '../../resources/boards/schema.ts'
import type { ListedCard } from '../listed-card.ts'
import type { Page } from '../page-context.ts'
import { readAll, workspacePage, type Reader } from '../reader.ts'
import type { CardChoice, CardChoices } from './card-choice.ts'
import { searchedText } from './filters.ts'
import type { Member } from './people.ts'

/** Cards that a search for a blocker offers. Another word finds others. */
const FOUND = '30'

type Read = (reader: Reader, card: ListedCard) => Promise<CardChoices>

const of = ({ id }: ListedCard) => ({ card_id: id })
const readBoard = async (reader: Reader, { board_id }: ListedCard, include: string) =>
  (await reader.read('boards.read', { board_id }, { include })).data as BoardSnapshot

const readers: Readonly<Record<string, Read>> = {
  async people(reader, card) {
    const { items } = await readAll<Member>(reader, ['boards.assignable', { board_id: card.board_id }], 2)
    const { userId } = reader.caller()
    // The person first, then those who are assigned.
    const rank = ({ user_id }: Member) => (user_id === userId ? 0 : card.assignee_ids.includes(user_id) ? 1 : 2)
    const people = items.toSorted((a, b) => rank(a) - rank(b) || a.display_name.localeCompare(b.display_name, 'en'))
    const choices = people.map(({ user_id, display_name }): CardChoice => {
      const isChosen = card.assignee_ids.includes(user_id)
      const text = user_id === userId ? `${display_name} (me)` : display_name
      return { text, isChosen, operation: isChosen ? 'cards.unassign' : 'cards.assign', fields: { ...of(card), user_id } }
    })
    return { choices }
  },
  async labels(reader, card) {
    const { id, labels = [] } = await readBoard(reader, card, 'labels')
    const choices = labels.map(({ id: label_id, name, color }): CardChoice => {
      const isChosen = card.label_ids.includes(label_id)
      return {
        text: name,
        color,
        isChosen,
        operation: isChosen ? 'cards.remove_label' : 'cards.apply_label',
        fields: { ...of(card), label_id },
      }
    })
    const mayCreate = (await reader.allowed('board', id)).has('labels.create')
    return { choices, ...(mayCreate && { boardOfNewLabels: id }) }
  },
  async columns(reader, card) {
    const { columns = [] } = await readBoard(reader, card, 'columns')
    const choices = columns.map(({ id, name }): CardChoice => {
      return { text: name, isChosen: id === card.column_id, operation: 'cards.move', fields: { ...of(card), column_id: id, to: 'last' } }
    })
    return { choices }
  },
  async blockers(reader, card) {
    const q = searchedText((reader.context.query.get('q') ?? '').trim())
    const asked = { limit: FOUND, ...(q !== '' && { q }) }
    const found = (await reader.read('cards.list', { board_id: card.board_id }, asked)).data as ListedCard[]
    const choices = found
      .filter(({ id }) => id !== card.id)
      .map(({ id, title }): CardChoice => {
        const isChosen = card.blocker_ids.includes(id)
        const operation = isChosen ? 'blockers.remove' : 'blockers.add'
        return { text: title, isChosen, operation, fields: { ...of(card), blocker_id: id } }
      })
    return { choices }
  },
}

/** What there is to choose from for a card on its board: people, labels, columns, or cards with the words `q` in their texts. A choice is a form that the script sends. */
export const cardChoicesPage: Page = {
  ...workspacePage('cards/{card}/choices/{of}', 'cards.read', async (reader) => {
    const { params } = reader.context
    const read = Object.hasOwn(readers, params['of']!) ? readers[params['of']!] : undefined
    if (read === undefined) throw new ApiError('not_found')
    const card = (await reader.read('cards.read', { card_id: params['card']! })).data as ListedCard
    return { json: await read(reader, card) }
  }),
  isPart: true,
}
