// Fills an empty storage with workspaces, and sends what is in it. Records in memory are served by this process.
import { pino } from 'pino'
import { generateNKeysBetween } from 'fractional-indexing'
import { createApp } from '../../../dist/app.js'
import { addMember } from '../../../dist/admin/memberships.js'
import { addUser } from '../../../dist/admin/users.js'
import { createWorkspace } from '../../../dist/admin/workspaces.js'
import { issueToken } from '../../../dist/auth/tokens/issue.js'
import { startListener } from '../../../dist/listener/listener.js'
import { newId, systemRandom as random } from '../../../dist/model/ids.js'
import { systemClock as clock, timestamp } from '../../../dist/model/time.js'
import { createDerivations } from '../../../dist/resources/derived.js'
import { keys } from '../../../dist/store/keys.js'
import { openStorage } from '../../../dist/store/open.js'
import { transact } from '../../../dist/store/transact.js'

/** Records of a commit. */
const BATCH = 200
/** Commits at a time: a folder syncs them together. */
const CONCURRENT = 16
/** Ids that are sent. */
const SENT_CARDS = 100_000

const [address, ...numbers] = process.argv.slice(2)
const [workspaces, boards, cardsPerBoard] = numbers.map(Number)
const log = pino({ level: 'error' }, pino.destination({ dest: 2, sync: true }))
const storage = await openStorage(address, { log, derived: createDerivations() })
const deps = { store: storage.store, blobs: storage.blobs, clock, random }
const now = timestamp(clock)
const times = { created_at: now, updated_at: now }
const positions = generateNKeysBetween(null, null, cardsPerBoard)
const user = await addUser(deps, { display_name: 'Ann' })
const filled = { jsonBytes: 0, cards: [], boards: [], token: '' }
let created = 0

await inParallel(workspaces, fillWorkspace)
const everyNth = Math.ceil(filled.cards.length / SENT_CARDS)
filled.cards = filled.cards.filter((_id, i) => i % everyNth === 0)
if (address === 'memory') await serve()
else {
  await storage.close()
  process.send(filled, () => process.exit(0))
}

async function fillWorkspace(number) {
  const { id: workspaceId } = await createWorkspace(deps, `Workspace ${number}`)
  await addMember(deps, workspaceId, user, 'owner')
  const issue = (tx) => issueToken(tx, { userId: user.id, name: 'benchmark', scopes: ['kanban:admin'] }, { clock, random })
  filled.token = (await transact(deps.store, workspaceId, random, issue)).plaintext
  const records = recordsOf()
  await inParallel(workspaces === 1 ? CONCURRENT : 1, async () => {
    for (let batch = take(records, BATCH); batch.length > 0; batch = take(records, BATCH))
      await transact(deps.store, workspaceId, random, async (tx) => {
        await tx.read(batch.map(([key]) => key))
        for (const [key, value] of batch) tx.put(key, value)
      })
  })
}

/** Boards with one column each, and its cards. */
function* recordsOf() {
  for (let i = 0; i < boards; i++) {
    const board_id = newId('board', random)
    const column_id = newId('column', random)
    const board = { id: board_id, name: `Board ${i}`, description: '', cover_color: null, visibility: 'workspace', creator_id: user.id }
    const column = { id: column_id, board_id, name: 'To do', wip_limit: null, completes: false, position: positions[0], archived_at: null }
    filled.boards.push(board_id)
    yield asRead(keys.board(board_id), board)
    yield asRead(keys.column(column_id), column)
    for (const position of positions) {
      const id = newId('card', random)
      filled.cards.push(id)
      yield asRead(keys.card(id), {
        id,
        board_id,
        column_id,
        title: `Card ${++created} of the benchmark`,
        description: `Each card has a description of one sentence, like this one of card ${created}.`,
        external_ref: null,
        position,
        due_at: null,
        completed_at: null,
        completed_by_id: null,
        outcome: null,
        archived_at: null,
        assignee_ids: [],
        label_ids: [],
        blocker_ids: [],
        cover_attachment_id: null,
        creator_id: user.id,
      })
    }
  }
}

/** A record as it is after it was received: it shares no text with other records. */
function asRead(key, record) {
  const json = JSON.stringify({ ...record, ...times })
  filled.jsonBytes += json.length
  return [key, JSON.parse(json)]
}

function take(records, count) {
  const taken = []
  for (let next; taken.length < count && !(next = records.next()).done;) taken.push(next.value)
  return taken
}

async function inParallel(count, work) {
  let begun = 0
  const lane = async () => {
    while (begun < count) await work(begun++)
  }
  await Promise.all(Array.from({ length: Math.min(count, CONCURRENT) }, lane))
}

async function serve() {
  const quota = 1_000_000_000
  const app = createApp({ ...deps, log, rateLimits: { quotas: { token: quota, workspace: quota, address: quota } } })
  const { url } = await startListener(app.h3, { port: 0, host: '127.0.0.1' })
  process.send({ ...filled, url })
  // Only what is read from now on counts.
  filled.cards = []
  filled.boards = []
}
