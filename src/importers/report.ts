/** How many examples a report has of each kind, and how long they are. */
const EXAMPLES = 5
const EXAMPLE_LENGTH = 100

/** What an import may not carry, or changes, in words that follow a number. */
const descriptions = {
  parts_malformed: 'parts of the file that could not be read, which are left out',
  rows_malformed: 'rows that could not be read, which are left out',
  cells_malformed: 'cells that should have a time, which are left out',
  cells_left_out: 'cells of columns without a name, which are left out',
  cards_unplaced: 'cards of lists that the file does not have, which are left out',
  archive_missing: 'archives: the response for a board has no archived cards. Add the response of GET /api/lists/:id/cards of its archive',
  templates_archived: 'templates of cards, which are archived so that nobody takes them for work',
  separators_archived: 'separators between cards, which are archived so that nobody takes them for work',
  linked_cards: 'cards that only show another card, a board or a link',
  project_items: 'places of issues in projects',
  issue_details: 'values of issues, their comments, labels and milestones that have no place here',
  recurrences: 'recurrences of cards',
  reminders: 'reminders before due dates',
  list_colors: 'colors of lists',
  wip_limits: 'limits of lists that a column cannot have',
  refs_repeated: 'cards whose address or id another card of the file has: they have no external_ref',
  refs_left_out: 'addresses or ids of cards that are no external_ref: most are too long',
  links_rewritten: 'links to other cards of the file, which are the ids of these cards now',
  custom_fields: 'values of custom fields that could not be read',
  start_dates: 'start dates of cards',
  covers: 'covers of cards',
  stickers: 'stickers',
  votes: 'votes',
  locations: 'locations of cards',
  plugin_data: 'values of power-ups',
  stopwatches: 'stopwatches',
  subtask_details: 'due dates, assignees and links of subtasks',
  checklist_names: 'names of checklists: cards with several have them before each subtask',
  card_types: 'types of cards',
  trash: 'cards in the trash',
  subtasks_counted: 'differences between the subtasks that the file counts and those that it has',
  attachments_counted: 'differences between the attachments that the file counts and those that it has',
  comments_missing: 'comments that the file does not have',
  comments_unplaced: 'comments on cards that the file does not have',
  checklists_missing: 'checklists that cards name and the file does not have',
  checklists_unplaced: 'checklists of cards that the file does not have',
  subtasks_unplaced: 'subtasks of checklists that the file does not have',
  attachments_unplaced: 'attachments of cards that the file does not have',
  comments_blank: 'comments without text',
  attachments_missing: 'files of attachments that the folder does not have, or that it has several of: they stay links',
  attachments_too_large: 'files of attachments that are larger than an upload may be: they stay links',
  attachments_beyond: 'files of attachments beyond the number that a card can have',
  symbolic_links: 'symbolic links in the folder of attachments, which are not followed',
  attachments_without_link: 'attachments without an http or https address',
  fields_left_out: 'values of custom fields that do not fit into the description',
  attachments_left_out: 'attachments whose links do not fit into the description',
  labels_unknown: 'labels of cards that the file does not have',
  label_colors_unknown: 'labels of an unknown color, which are gray now',
  labels_left_out: 'labels beyond the number that a card can have',
  subtasks_left_out: 'subtasks beyond the number that a card can have',
  comments_left_out: 'oldest comments beyond the number that a card can have',
  assignees_left_out: 'assignments beyond the number that a card can have',
  members_unmatched: 'members without a user of the same name in the workspace',
  assignments_unmatched: 'assignments of members without a user in the workspace',
  comments_by_others: 'comments of others: all comments begin with the name of their author and their time',
  texts_shortened: 'texts that are too long, and were shortened',
  texts_blank: 'names without a visible character, which are replaced',
  characters_replaced: 'texts with control characters, invisible characters in names, or invalid Unicode, which are replaced or left out',
  closed_boards: 'closed boards, which are open now',
} as const
/** A kind of thing that an import may not carry. */
export type Loss = keyof typeof descriptions

/** One line of the report of an import. */
export interface ReportLine {
  readonly kind: Loss
  readonly count: number
  readonly description: string
  /** the first five */
  readonly examples: readonly string[]
}

/** Collects what an import cannot carry as it is. */
export class ImportReport {
  readonly #found = new Map<Loss, { count: number; readonly examples: string[] }>()

  /** @param example which one, for example the title of a card */
  add(kind: Loss, example: string, count = 1): void {
    if (count === 0) return
    const found = this.#found.get(kind) ?? { count: 0, examples: [] }
    found.count += count
    if (found.examples.length < EXAMPLES) found.examples.push(shorten(example))
    this.#found.set(kind, found)
  }

  /** What was collected, in the order of the table of kinds. */
  get lines(): ReportLine[] {
    return (Object.keys(descriptions) as Loss[]).flatMap((kind) => {
      const found = this.#found.get(kind)
      return found === undefined ? [] : { kind, count: found.count, description: descriptions[kind], examples: found.examples }
    })
  }
}

function shorten(text: string): string {
  const start = [...text.slice(0, 2 * EXAMPLE_LENGTH).toWellFormed()]
  return start.length <= EXAMPLE_LENGTH ? start.join('') : `${start.slice(0, EXAMPLE_LENGTH - 1).join('')}…`
}
