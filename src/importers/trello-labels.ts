import { GRAY, trelloColor } from './colors.ts'
import type { ForeignBoard } from './foreign-board.ts'
import { uniqueById } from './input.ts'
import type { ImportReport } from './report.ts'
import type { TrelloBoard, TrelloCard } from './trello-shape.ts'

interface Label {
  readonly id: string
  readonly name: string | null | undefined
  readonly color: string | null | undefined
}
type OwnLabel = TrelloCard['labels'][number]

/** The labels of a board of Trello, and which of them a card has. */
export class TrelloLabels {
  /** in their order */
  readonly #labels: Map<string, Label>
  readonly #report: ImportReport

  /**
   * A file has the labels of the board. In the response of the REST API, its cards can have them instead. Before 2016, a file has the names of
   * the colors, and its cards have labels without ids.
   */
  constructor({ labels, labelNames, cards }: TrelloBoard, report: ImportReport) {
    this.#report = report
    this.#labels = new Map(uniqueById('labels', labels, report).map(({ id, name, color }) => [id, { id, name, color }]))
    const isOld = labels.length === 0
    for (const own of cards.flatMap((card) => card.labels)) this.#add(own)
    if (isOld)
      for (const [color, name] of Object.entries(labelNames ?? {}))
        if (name && this.#ofColor(color) === undefined) this.#add({ color, name })
  }

  /** All of them, as they are here. */
  get all(): ForeignBoard['labels'] {
    return Array.from(this.#labels.values(), ({ id, name, color }) => ({
      id,
      name: name || color || 'Label',
      color: this.#colorOf(name, color),
    }))
  }

  /** The ids of the labels of a card. */
  of({ idLabels, labels }: TrelloCard): string[] {
    return [...idLabels, ...labels.map((own) => this.#find(own)?.id ?? '')]
  }

  #add(own: OwnLabel): void {
    if (this.#find(own) !== undefined) return
    const id = own.id ?? keyOf(own)
    this.#labels.set(id, { id, name: own.name, color: own.color })
  }

  #find(own: OwnLabel): Label | undefined {
    if (own.id) return this.#labels.get(own.id)
    return (
      this.#labels.get(keyOf(own)) ??
      [...this.#labels.values()].find(({ name, color }) => (name ?? '') === (own.name ?? '') && color === own.color)
    )
  }

  #ofColor(wanted: string): Label | undefined {
    return [...this.#labels.values()].find(({ color }) => color === wanted)
  }

  #colorOf(name: string | null | undefined, color: string | null | undefined): string {
    const found = trelloColor(color ?? null)
    if (found === undefined) this.#report.add('label_colors_unknown', `${name}: ${color}`)
    return found ?? GRAY
  }
}

/** What identifies a label without an id. No id has a space. */
function keyOf({ color, name }: OwnLabel): string {
  return `${color ?? ''} ${name ?? ''}`
}
