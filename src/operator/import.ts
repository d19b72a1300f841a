import { createHash } from 'node:crypto'
import type { User } from '../model/workspace.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import type { Value } from '../store/port.ts'
import { transact } from '../store/transact.ts'
import { EXPORT_FORMAT, exportLine, megabytes, type ExportLine, type Transferred } from './export.ts'
import { noteBelonging } from './memberships.ts'
import { OperatorError, type Conversation, type FileTools } from './tools.ts'
import { listWorkspace } from './workspaces.ts'

/** Records of one commit. */
const BATCH = 200
/** Written last, the tokens and the workspace itself in one commit: so nobody can ask for half a workspace. */
const LAST = /^(workspace|token|membership):/

/**
 * Brings an exported workspace back, under its own id. Until the last line has come and fits, nobody can use it;
 * an import that was broken off can be done again.
 * @throws {OperatorError} `conflict` where the workspace is there; `invalid` where the lines are no whole export
 */
export async function importWorkspace(tools: FileTools, talk: Conversation): Promise<Transferred> {
  const lines = checked(talk.lines)
  const head = (await lines.next()).value as ExportLine | undefined
  if (head === undefined || !('lanekeeper_export' in head)) throw new OperatorError('invalid', 'this is no export of a workspace')
  if (head.lanekeeper_export !== EXPORT_FORMAT)
    throw new OperatorError('invalid', `the export has format ${head.lanekeeper_export}; this version knows format ${EXPORT_FORMAT}`)
  const { workspace_id } = head
  const { store, random } = tools
  if ((await transact(store, workspace_id, random, (tx) => tx.get(keys.workspace()))) !== undefined)
    throw new OperatorError('conflict', `workspace ${workspace_id} is there already`)
  await clear(tools, workspace_id)

  const users: User[] = []
  const held: [string, Value][] = []
  let batch: [string, Value][] = []
  let [records, files, bytes] = [0, 0, 0]
  const flush = async (): Promise<void> => {
    await writeRecords(tools, workspace_id, batch)
    records += batch.length
    batch = []
    talk.progress(`${records} records, ${files} files (${megabytes(bytes)})`)
  }
  for await (const line of lines) {
    if ('user' in line) users.push(line.user as unknown as User)
    else if ('bytes' in line) {
      bytes += await writeBytes(tools, line, lines)
      files++
    } else if ('key' in line) (LAST.test(line.key) ? held : batch).push([line.key, line.value])
    if (batch.length >= BATCH) await flush()
  }
  await flush()
  for (const user of users) {
    await addUser(tools, user)
    await noteBelonging(tools, workspace_id, user.id)
  }
  const members = held.filter(([key]) => key.startsWith('membership:'))
  for (let from = 0; from < members.length; from += BATCH) await writeRecords(tools, workspace_id, members.slice(from, from + BATCH))
  await writeRecords(
    tools,
    workspace_id,
    held.filter((record) => !members.includes(record)),
  )
  await listWorkspace(tools, workspace_id)
  return { workspace_id, records: records + held.length, files, bytes }
}

async function writeRecords({ store, random }: FileTools, workspaceId: string, records: readonly [string, Value][]): Promise<void> {
  if (records.length === 0) return
  await transact(store, workspaceId, random, async (tx) => {
    await tx.read(records.map(([key]) => key))
    for (const [key, value] of records) tx.put(key, value)
  })
}

/** What an import left that was broken off: the next one may be of another day. */
async function clear({ store, random }: FileTools, workspaceId: string): Promise<void> {
  for await (const piece of store.dump(workspaceId)) {
    for (let from = 0; from < piece.length; from += BATCH) {
      const keysOfBatch = piece.slice(from, from + BATCH).map(([key]) => key)
      await transact(store, workspaceId, random, async (tx) => {
        await tx.read(keysOfBatch)
        for (const key of keysOfBatch) tx.remove(key)
      })
    }
  }
}

async function addUser({ store, random }: FileTools, user: User): Promise<void> {
  await transact(store, GLOBAL, random, async (tx) => {
    // Whoever is known already keeps what is known.
    if ((await tx.get(keys.user(user.id))) === undefined) tx.put(keys.user(user.id), user)
  })
}

type BytesLine = Extract<ExportLine, { bytes: string }>

async function writeBytes({ blobs }: FileTools, first: BytesLine, lines: AsyncGenerator<ExportLine>): Promise<number> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let line: BytesLine = first; ;) {
      yield Buffer.from(line.bytes, 'base64')
      if (line.last) return
      line = (await lines.next()).value as BytesLine
      if (line?.blob_id !== first.blob_id) throw new OperatorError('invalid', `the bytes of ${first.blob_id} are not whole`)
    }
  }
  return (await blobs.write(first.blob_id, pieces())).size
}

/** The lines up to the last one, which must say how many there were and what they were. */
async function* checked(lines: AsyncIterable<string>): AsyncGenerator<ExportLine> {
  const hash = createHash('sha256')
  let count = 0
  for await (const text of lines) {
    if (text === '') continue
    const line = parse(text, count + 1)
    if ('end' in line) {
      if (line.lines !== count || line.sha256 !== hash.digest('hex'))
        throw new OperatorError('invalid', 'the export was changed: its checksum does not fit')
      return
    }
    hash.update(text).update('\n')
    count++
    yield line
  }
  throw new OperatorError('invalid', 'the export is not whole: its last line is missing')
}

function parse(text: string, number: number): ExportLine {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new OperatorError('invalid', `line ${number} of the export is no JSON`)
  }
  const parsed = exportLine.safeParse(json)
  if (!parsed.success) throw new OperatorError('invalid', `line ${number} is none of an export`)
  return parsed.data
}
