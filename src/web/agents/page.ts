import { hash } from 'node:crypto'
import type { Board } from '../../model/board.ts'
import { mayActOn } from '../boards/acts.ts'
import { readPeople } from '../boards/people.ts'
import { readQuestions } from '../boards/questions.ts'
import { workspaceOf } from '../memberships.ts'
import { BOARD_SCRIPTS, workspacePage } from '../reader.ts'
import { readAgents } from './read.ts'
import { renderAgents } from './view.ts'

/** Cards of each kind that can be acted on: each is read, with its question and its board. */
const SHOWN = 20

/** The version of a page, by what it shows: times are shown by their distance, and make none. */
function versionOf(...shown: readonly unknown[]): string {
  const text = JSON.stringify(shown, (_name, value: unknown) => (value instanceof Map || value instanceof Set ? [...value] : value))
  return hash('sha256', text, 'base64url')
}

/** Who works in a workspace: its tokens of the last day, and what waits for a person. */
export const agentsPage = workspacePage('agents', 'cards.search', async (reader) => {
  const { web, session } = reader.context
  const found = await readAgents(reader, (of, cards) => readQuestions(of, cards.slice(0, SHOWN)))
  const [waiting, stuck] = [found.waiting.filter(({ id }) => found.questions.has(id)), found.stuck.slice(0, SHOWN)]
  const cards = [...waiting, ...stuck]
  const boardIds = [...new Set(cards.map(({ board_id }) => board_id))]
  const [may, boards, people, workspace] = await Promise.all([
    mayActOn(
      reader,
      cards.map(({ id }) => id),
    ),
    Promise.all(boardIds.map((board_id) => reader.find<Board>('boards.read', { board_id }))),
    readPeople(reader),
    workspaceOf(web, session.user_id, reader.workspaceId),
  ])
  const of = {
    ...found,
    waiting,
    stuck,
    hidden: found.waiting.length + found.stuck.length - cards.length,
    may: new Map(cards.map(({ id }, i) => [id, may[i]!])),
    boards: new Map(boards.flatMap((board) => (board === undefined ? [] : [[board.id, board.name] as const]))),
  }
  const name = workspace?.name ?? ''
  // A page of another session has other forms.
  const version = versionOf(session.id, name, of, people.members)
  const body = renderAgents(reader, { ...of, people }, { workspace: name, version })
  return { title: 'Agents', body, version, scripts: BOARD_SCRIPTS }
})
