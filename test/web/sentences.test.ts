import { expect, test } from 'vitest'
import type { ShownChange } from '../../src/web/boards/board-update.ts'
import { doneBy, sentenceOf } from '../../src/web/boards/sentences.ts'

const change = (kind: string, action: ShownChange['action'], title: string | null = null): ShownChange => {
  return { seq: 1, kind, action, id: 'x', card: 'y', title, isOwn: false, by: 'your token “bot”' }
}
const [ON_CARD, ELSEWHERE] = [
  { cardTitle: 'Launch', isMoved: false },
  { cardTitle: undefined, isMoved: false },
]

test.each([
  [change('card', 'created', 'Launch'), ON_CARD, 'Your token “bot” created “Launch”', 'created'],
  [change('card', 'updated', 'Launch'), { ...ON_CARD, isMoved: true }, 'Your token “bot” moved “Launch”', 'moved'],
  [change('card', 'deleted'), ON_CARD, 'Your token “bot” deleted “Launch”', 'deleted'],
  [change('card', 'deleted'), ELSEWHERE, 'Your token “bot” deleted a card', 'deleted'],
  [change('card', 'claimed', 'Launch'), ON_CARD, 'Your token “bot” claimed “Launch”', 'claimed'],
  [change('card', 'released', 'Launch'), ON_CARD, 'Your token “bot” released “Launch”', 'released'],
  [change('card', 'failed', 'Launch'), ON_CARD, 'Your token “bot” failed at “Launch”', 'failed'],
  [change('card', 'stuck', 'Launch'), ON_CARD, 'Your token “bot” got stuck with “Launch”', 'got stuck'],
  [change('card', 'asked', 'Launch'), ON_CARD, 'Your token “bot” asked about “Launch”', 'asked'],
  [change('card', 'answered'), ON_CARD, 'Your token “bot” answered a question on “Launch”', 'answered a question'],
  [change('card', 'retried'), ELSEWHERE, 'Your token “bot” retried a card', 'retried'],
  [change('comment', 'created'), ON_CARD, 'Your token “bot” commented on “Launch”', 'commented'],
  [change('comment', 'updated'), ON_CARD, 'Your token “bot” edited a comment on “Launch”', 'edited a comment'],
  [change('comment', 'deleted'), ELSEWHERE, 'Your token “bot” deleted a comment on a card', 'deleted a comment'],
  [change('subtask', 'created', 'Call'), ON_CARD, 'Your token “bot” added the subtask “Call” to “Launch”', 'added a subtask'],
  [change('subtask', 'updated', 'Call'), ON_CARD, 'Your token “bot” changed the subtask “Call” of “Launch”', 'changed a subtask'],
  [change('attachment', 'created', 'a.png'), ON_CARD, 'Your token “bot” attached “a.png” to “Launch”', 'attached'],
  [change('attachment', 'deleted', null), ON_CARD, 'Your token “bot” removed an attachment of “Launch”', 'removed an attachment'],
  [change('label', 'updated', 'urgent'), ELSEWHERE, 'Your token “bot” changed the label “urgent”', 'changed a label'],
  [change('board_member', 'created'), ELSEWHERE, 'Your token “bot” added a member of the board', 'added a member of the board'],
])('%o is said as a sentence and without a name', (of, known, sentence, done) => {
  expect({ sentence: sentenceOf(of, known), done: doneBy(of, known.isMoved) }).toEqual({ sentence, done })
})
