import { expect, test } from 'vitest'
import type { ShownChange } from '../../src/web/boards/board-update.ts'
import { doneBy, sentenceOf } from '../../src/web/boards/sentences.ts'

const change = (kind: string, action: ShownChange['action'], title: string | null = null): ShownChange => {
  return { seq: 1, at: '2026-01-01T00:00:00.000Z', kind, action, id: 'x', card: 'y', title, isOwn: false, by: 'bot of Ana' }
}
const [ON_CARD, ELSEWHERE] = [
  { cardTitle: 'Launch', isMoved: false },
  { cardTitle: undefined, isMoved: false },
]

test.each([
  [change('card', 'created', 'Launch'), ON_CARD, 'bot of Ana created “Launch”', 'created'],
  [change('card', 'updated', 'Launch'), { ...ON_CARD, isMoved: true }, 'bot of Ana moved “Launch”', 'moved'],
  [change('card', 'deleted'), ON_CARD, 'bot of Ana deleted “Launch”', 'deleted'],
  [change('card', 'deleted'), ELSEWHERE, 'bot of Ana deleted a card', 'deleted'],
  [change('card', 'claimed', 'Launch'), ON_CARD, 'bot of Ana claimed “Launch”', 'claimed'],
  [change('card', 'released', 'Launch'), ON_CARD, 'bot of Ana released “Launch”', 'released'],
  [change('card', 'failed', 'Launch'), ON_CARD, 'bot of Ana failed at “Launch”', 'failed'],
  [change('card', 'stuck', 'Launch'), ON_CARD, 'bot of Ana got stuck with “Launch”', 'got stuck'],
  [change('card', 'asked', 'Launch'), ON_CARD, 'bot of Ana asked about “Launch”', 'asked'],
  [change('card', 'answered'), ON_CARD, 'bot of Ana answered a question on “Launch”', 'answered a question'],
  [change('card', 'retried'), ELSEWHERE, 'bot of Ana retried a card', 'retried'],
  [change('comment', 'created'), ON_CARD, 'bot of Ana commented on “Launch”', 'commented'],
  [change('comment', 'updated'), ON_CARD, 'bot of Ana edited a comment on “Launch”', 'edited a comment'],
  [change('comment', 'deleted'), ELSEWHERE, 'bot of Ana deleted a comment on a card', 'deleted a comment'],
  [change('subtask', 'created', 'Call'), ON_CARD, 'bot of Ana added the subtask “Call” to “Launch”', 'added a subtask'],
  [change('subtask', 'updated', 'Call'), ON_CARD, 'bot of Ana changed the subtask “Call” of “Launch”', 'changed a subtask'],
  [change('attachment', 'created', 'a.png'), ON_CARD, 'bot of Ana attached “a.png” to “Launch”', 'attached'],
  [change('attachment', 'deleted', null), ON_CARD, 'bot of Ana removed an attachment of “Launch”', 'removed an attachment'],
  [change('label', 'updated', 'urgent'), ELSEWHERE, 'bot of Ana changed the label “urgent”', 'changed a label'],
  [change('board_member', 'created'), ELSEWHERE, 'bot of Ana added a member of the board', 'added a member of the board'],
])('%o is said as a sentence and without a name', (of, known, sentence, done) => {
  expect({ sentence: sentenceOf(of, known), done: doneBy(of, known.isMoved) }).toEqual({ sentence, done })
})
