import { expect, test } from 'vitest'
import type { ShownChange } from '../../src/web/boards/board-update.ts'
import { noteOf, sentenceOf } from '../../src/web/boards/sentences.ts'

const change = (kind: string, action: ShownChange['action'], title: string | null = null): ShownChange => {
  return { seq: 1, kind, action, id: 'x', card: 'y', title, isOwn: false, by: 'your token “bot”' }
}
const [ON_CARD, ELSEWHERE] = [
  { cardTitle: 'Launch', isMoved: false },
  { cardTitle: undefined, isMoved: false },
]

test.each([
  [change('card', 'created', 'Launch'), ON_CARD, 'Your token “bot” created “Launch”', 'Created'],
  [change('card', 'updated', 'Launch'), { ...ON_CARD, isMoved: true }, 'Your token “bot” moved “Launch”', 'Moved'],
  [change('card', 'deleted'), ON_CARD, 'Your token “bot” deleted “Launch”', 'Deleted'],
  [change('card', 'deleted'), ELSEWHERE, 'Your token “bot” deleted a card', 'Deleted'],
  [change('card', 'claimed', 'Launch'), ON_CARD, 'Your token “bot” claimed “Launch”', 'Claimed'],
  [change('card', 'released', 'Launch'), ON_CARD, 'Your token “bot” released “Launch”', 'Released'],
  [change('card', 'failed', 'Launch'), ON_CARD, 'Your token “bot” failed at “Launch”', 'Failed'],
  [change('card', 'stuck', 'Launch'), ON_CARD, 'Your token “bot” got stuck with “Launch”', 'Got stuck'],
  [change('card', 'asked', 'Launch'), ON_CARD, 'Your token “bot” asked about “Launch”', 'Asked'],
  [change('card', 'answered'), ON_CARD, 'Your token “bot” answered a question on “Launch”', 'Answered a question'],
  [change('card', 'retried'), ELSEWHERE, 'Your token “bot” retried a card', 'Retried'],
  [change('comment', 'created'), ON_CARD, 'Your token “bot” commented on “Launch”', 'Commented'],
  [change('comment', 'updated'), ON_CARD, 'Your token “bot” edited a comment on “Launch”', 'Edited a comment'],
  [change('comment', 'deleted'), ELSEWHERE, 'Your token “bot” deleted a comment on a card', 'Deleted a comment'],
  [change('subtask', 'created', 'Call'), ON_CARD, 'Your token “bot” added the subtask “Call” to “Launch”', 'Added a subtask'],
  [change('subtask', 'updated', 'Call'), ON_CARD, 'Your token “bot” changed the subtask “Call” of “Launch”', 'Changed a subtask'],
  [change('attachment', 'created', 'a.png'), ON_CARD, 'Your token “bot” attached “a.png” to “Launch”', 'Attached'],
  [change('attachment', 'deleted', null), ON_CARD, 'Your token “bot” removed an attachment of “Launch”', 'Removed an attachment'],
  [change('label', 'updated', 'urgent'), ELSEWHERE, 'Your token “bot” changed the label “urgent”', 'Changed a label'],
  [change('board_member', 'created'), ELSEWHERE, 'Your token “bot” added a member of the board', 'Added a member of the board'],
])('%o is said as a sentence and as a note', (of, known, sentence, note) => {
  expect({ sentence: sentenceOf(of, known), note: noteOf(of, known.isMoved) }).toEqual({ sentence, note: `${note} · your token “bot”` })
})
