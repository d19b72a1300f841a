// A program of someone who has installed the client. `.ci/run` compiles it against the declarations of the package, and runs it with
// the line that the start of the service has printed.
import { ApiError, createClient, type Card } from 'lanekeeper-client'

declare const process: { readonly stdin: AsyncIterable<Uint8Array> }

let text = ''
for await (const part of process.stdin) text += new TextDecoder().decode(part)
interface Start {
  readonly url: string
  readonly tokens: readonly { readonly token: string; readonly scopes: readonly string[] }[]
}
const { url, tokens } = JSON.parse(text) as Start
const token = tokens.find(({ scopes }) => scopes.includes('kanban:write'))!.token

const lk = createClient({ url, token })
const board = (await lk.boards.create({ name: 'Spring' }, { idempotencyKey: 'a board' })).data
const again = await lk.boards.create({ name: 'Spring' }, { idempotencyKey: 'a board' })
const column = (await lk.columns.create({ board_id: board.id, name: 'To do' })).data
await lk.cards.create({ board_id: board.id, column_id: column.id, title: 'Sow' })
const cards: Card[] = []
for await (const card of lk.cards.list.all({ board_id: board.id })) cards.push(card)
const refused = await lk.boards.delete({ board_id: board.id }).catch((error: unknown) => error)
const scope = refused instanceof ApiError && refused.is('insufficient_scope') ? refused.members.required_scope : undefined
if (!again.replayed || again.data.id !== board.id || cards[0]?.title !== 'Sow' || scope !== 'kanban:admin')
  throw new Error(`the package does not work: ${JSON.stringify([board, again, cards, String(refused), scope])}`)
console.log('the package works')
