import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { effort } from '../support/effort.ts'
import { plannedBoard } from './planned-board.ts'
import { importText } from './text-import.ts'

// A random board is written in the form of each program, by writers that know nothing of the importers. It must come back equal. A text that
// comes back changed must be in the report.

interface Card {
  readonly title: string
  readonly description: string
  readonly labels: readonly string[]
  readonly due: string | null
  readonly done: string | null
  readonly subtasks: readonly { readonly title: string; readonly done: boolean }[]
  readonly comments: readonly string[]
}
interface Column {
  readonly name: string
  readonly cards: readonly Card[]
}

const time = fc.integer({ min: 1_600_000_000, max: 1_790_000_000 }).map((seconds) => new Date(seconds * 1000).toISOString())
const text = (maxLength: number) =>
  fc.oneof(
    fc.string({ maxLength }),
    fc.string({ maxLength, unit: 'grapheme' }),
    fc.string({ maxLength: Math.min(maxLength, 50), unit: 'binary' }),
    fc
      .array(fc.constantFrom('"', ';', ',', '\n', '\r\n', '\t', ' ', 'a', '=', '\u0000', '\u200b', '\ud800', '# '), { maxLength: 30 })
      .map((parts) => parts.join('')),
  )
const LABELS = ['bug', 'Later', 'Größe', '重要']
const card: fc.Arbitrary<Card> = fc.record({
  title: fc.oneof({ weight: 20, arbitrary: text(80) }, { weight: 1, arbitrary: fc.constant('🌱'.repeat(501)) }),
  description: text(300),
  labels: fc.uniqueArray(fc.constantFrom(...LABELS)),
  due: fc.option(time),
  done: fc.option(time),
  subtasks: fc.array(fc.record({ title: text(60), done: fc.boolean() }), { maxLength: 4 }),
  comments: fc.array(text(100), { maxLength: 4 }),
})
const board: fc.Arbitrary<readonly Column[]> = fc
  .array(fc.array(card, { maxLength: 4 }), { minLength: 1, maxLength: 4 })
  .map((columns) => columns.map((cards, i) => ({ name: `Column ${i}`, cards })))

/** The time of a comment, by its place. */
const writtenAt = (i: number) => `2026-01-01T00:${String(i).padStart(2, '0')}:00.000Z`
const cardsOf = (columns: readonly Column[]) =>
  columns.flatMap((column, c) => column.cards.map((one, i) => ({ ...one, column, c, id: `card-${c}-${i}` })))
const all = <T>(columns: readonly Column[], partsOf: (one: ReturnType<typeof cardsOf>[number]) => readonly T[]) =>
  cardsOf(columns).flatMap(partsOf)

function trelloFile(columns: readonly Column[]): unknown {
  return {
    name: 'Board',
    lists: columns.map(({ name }, c) => ({ id: `list-${c}`, name, closed: false, pos: c })).toReversed(),
    labels: LABELS.map((name) => ({ id: `label-${name}`, name, color: 'red' })),
    cards: cardsOf(columns).map(({ id, c, title, description, labels, due, done }, pos) => ({
      id,
      idList: `list-${c}`,
      name: title,
      desc: description,
      closed: false,
      pos,
      due,
      dueComplete: done !== null,
      dateCompleted: done,
      idLabels: labels.map((name) => `label-${name}`),
    })),
    checklists: all(columns, ({ id, subtasks }) => [
      {
        id: `list-of-${id}`,
        idCard: id,
        name: 'Checklist',
        checkItems: subtasks.map(({ title: name, done }, pos) => ({ name, pos, state: done ? 'complete' : 'incomplete' })),
      },
    ]),
    actions: all(columns, ({ id, comments }) =>
      comments.map((body, i) => ({ type: 'commentCard', date: writtenAt(i), data: { text: body, card: { id } } })),
    ).toReversed(),
  }
}

function plankaFile(columns: readonly Column[]): unknown {
  return {
    item: { id: '1', name: 'Board' },
    included: {
      lists: columns.map(({ name }, c) => ({ id: `list-${c}`, type: 'active', name, position: c })),
      labels: LABELS.map((name) => ({ id: `label-${name}`, name, color: 'berry-red' })),
      cards: cardsOf(columns).map(({ id, c, title: name, description, due, done }, position) => ({
        id,
        listId: `list-${c}`,
        name,
        description,
        position,
        dueDate: due,
        isDueCompleted: done !== null,
      })),
      cardLabels: all(columns, ({ id, labels }) => labels.map((name) => ({ cardId: id, labelId: `label-${name}` }))),
      taskLists: all(columns, ({ id }) => [{ id: `list-of-${id}`, cardId: id, name: 'Tasks' }]),
      tasks: all(columns, ({ id, subtasks }) =>
        subtasks.map(({ title: name, done }, position) => ({ taskListId: `list-of-${id}`, name, position, isCompleted: done })),
      ),
      comments: all(columns, ({ id, comments }) => comments.map((body, i) => ({ cardId: id, text: body, createdAt: writtenAt(i) }))),
    },
  }
}

const cell = (value: string) => `"${value.replaceAll('"', '""')}"`
function csvFile(columns: readonly Column[]): string {
  const rows = cardsOf(columns).map(({ column, title, description, labels, due, done, comments }) =>
    [title, description, column.name, labels.join(', '), due ?? '', done ?? '', ...[0, 1, 2, 3].map((i) => comments[i] ?? '')]
      .map(cell)
      .join(','),
  )
  return ['Title,Description,Column,Labels,Due,Completed,Comment,Comment,Comment,Comment', ...rows].join('\r\n')
}

function githubFile(columns: readonly Column[]): unknown {
  return cardsOf(columns).map(({ title, description, labels, due, done, comments }, i) => ({
    number: i,
    title,
    body: description,
    state: done === null ? 'OPEN' : 'CLOSED',
    closedAt: done,
    url: `https://github.com/a/b/issues/${i}`,
    labels: labels.map((name) => ({ name, color: 'eb5a46' })),
    milestone: due === null ? null : { dueOn: due },
    comments: comments.map((body, at) => ({ body, createdAt: writtenAt(at) })).toReversed(),
  }))
}

/** What a form can hold of a board. */
interface Form {
  readonly write: (columns: readonly Column[]) => unknown
  readonly hasSubtasks: boolean
  /** whether it says when a card was completed, and when a comment was written */
  readonly knows: { readonly completion: boolean; readonly comments: boolean }
  readonly columns: (columns: readonly Column[]) => readonly Column[]
}
const forms: Readonly<Record<string, Form>> = {
  trello: { write: trelloFile, hasSubtasks: true, knows: { completion: true, comments: true }, columns: (columns) => columns },
  planka: { write: plankaFile, hasSubtasks: true, knows: { completion: false, comments: true }, columns: (columns) => columns },
  csv: {
    write: csvFile,
    hasSubtasks: false,
    knows: { completion: true, comments: false },
    // A row without a title is no card, and a column without rows is not in the file.
    columns: (columns) =>
      columns
        .map(({ name, cards }) => ({ name, cards: cards.filter(({ title }) => title.trim() !== '') }))
        .filter(({ cards }) => cards.length > 0),
  },
  github: {
    write: githubFile,
    hasSubtasks: false,
    knows: { completion: true, comments: true },
    columns: (columns) => [
      { name: 'Open', cards: cardsOf(columns).filter(({ done }) => done === null) },
      { name: 'Closed', cards: cardsOf(columns).filter(({ done }) => done !== null) },
    ],
  },
}
const TEXT_LOSSES = ['texts_shortened', 'texts_blank', 'characters_replaced', 'comments_blank']

describe.each(Object.entries(forms))('a random board in the form of %s', (from, { write, hasSubtasks, knows, columns: columnsOf }) => {
  test('comes back equal, and each text that does not is in the report', async () => {
    await fc.assert(
      fc.asyncProperty(board, async (random) => {
        // A file in UTF-8 has no lone surrogate; JSON can have its escape.
        const columns: typeof random = from === 'csv' ? JSON.parse(JSON.stringify(random).replace(/\\ud[89a-f]../g, '?')) : random
        const file = write(columns)
        if (from === 'csv' && columns.every(({ cards }) => cards.length === 0)) return
        const { result, lines } = await importText(from, typeof file === 'string' ? file : JSON.stringify(file))
        const found = { columns: [], ...plannedBoard(lines) } as Record<string, any>
        const expected = columnsOf(columns)
        const shape = (column: any) => ({
          name: column.name,
          cards: (column.cards ?? []).map(({ labels = [], due_at = null, completed = false }: any) => ({ labels, due_at, completed })),
        })
        expect(found['columns'].map(shape)).toEqual(
          expected.map(({ name, cards }) => ({
            name,
            cards: cards.map(({ labels, due, done }) => ({ labels, due_at: due, completed: done !== null })),
          })),
        )
        let changed = 0
        const compare = (is: string | undefined, was: string) => {
          if ((is ?? '') !== was) changed++
        }
        for (const [c, { cards }] of expected.entries())
          for (const [i, was] of cards.entries()) {
            const is = found['columns'][c].cards[i]
            compare(is.title, was.title.trim())
            const times = was.done !== null && knows.completion ? `Completed ${was.done.slice(0, 16).replace('T', ' ')} UTC.` : ''
            // A cell of spaces is empty.
            const description = from === 'csv' && was.description.trim() === '' ? '' : was.description
            compare(is.description, [description, times].filter((part) => part !== '').join('\n\n'))
            const wasSubtasks = hasSubtasks ? was.subtasks : []
            expect((is.subtasks ?? []).map(([, done]: [string, boolean]) => done)).toEqual(wasSubtasks.map(({ done }) => done))
            for (const [at, subtask] of wasSubtasks.entries()) compare(is.subtasks[at][0], subtask.title.trim())
            const heading = (at: number) =>
              `an unknown person${knows.comments ? `, ${writtenAt(at).slice(0, 16).replace('T', ' ')} UTC` : ''}:\n\n`
            const bodies: string[] = is.comments ?? []
            // An empty cell is no comment.
            const comments = was.comments
              .map((body, at) => heading(at) + body)
              .filter((_body, at) => knows.comments || was.comments[at]!.trim() !== '')
            changed += comments.filter((body) => !bodies.includes(body)).length
            expect(bodies.length).toBeLessThanOrEqual(comments.length)
          }
        const reported = result.not_carried.filter(({ kind }) => TEXT_LOSSES.includes(kind)).reduce((sum, { count }) => sum + count, 0)
        expect(reported).toBeGreaterThanOrEqual(changed)
        if (changed === 0 && from !== 'csv')
          expect(
            result.not_carried.filter(({ kind }) => !['comments_by_others', 'checklist_names', ...TEXT_LOSSES].includes(kind)),
          ).toEqual([])
      }),
      { numRuns: effort(60) },
    )
  })
})
