import type { TrailEntry } from '../../audit/trail.ts'
import { ApiError } from '../../model/errors.ts'
import { idPrefixes } from '../../model/ids.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import type { SignedInContext } from '../page-context.ts'
import { quoted, type Named } from '../phrases.ts'
import { readerOf } from '../reader.ts'
import { namedIn } from './words.ts'

/** What a page of the trail names at most: each is a read. The others have no names. */
const MOST = 60

/** The kinds that an operation reads by their ids. */
const READABLE = ['board', 'column', 'card', 'label', 'subtask', 'attachment', 'file', 'webhook'] as const
/** The kinds that have a page in a workspace. */
const PAGES: Readonly<Partial<Record<string, string>>> = { board: 'boards', card: 'cards', webhook: 'webhooks' }

/** The name of what an entry names, by its id. */
export type NameOf = (id: string) => Named | undefined

/**
 * Reads the names of what entries are about, each as the person may read it now: nothing is named that they have lost access to, or never
 * had. An owner of the workspace who reads its trail is no exception.
 * @param tokens the names of tokens that the page may show, by their ids
 */
export async function readTrailNames(
  context: SignedInContext,
  entries: readonly TrailEntry[],
  tokens: ReadonlyMap<string, string>,
): Promise<NameOf> {
  const named = new Map(entries.flatMap((entry) => [...namedIn(entry).values()].map((id) => [id, entry.partition] as const)))
  const asked = [...named].filter(([, partition]) => partition !== GLOBAL).slice(0, MOST)
  const found = await Promise.all(asked.map(([id, partition]) => readName(context, partition, id)))
  const names = new Map(found.flatMap((one) => (one === undefined ? [] : [[one.id, one] as const])))
  return (id) => {
    const token = tokens.get(id)
    return names.get(id) ?? (token === undefined ? undefined : quoted(id, token))
  }
}

async function readName(context: SignedInContext, workspaceId: string, id: string): Promise<Named | undefined> {
  const reader = readerOf(context, workspaceId)
  const kind = READABLE.find((one) => id.startsWith(`${idPrefixes[one]}_`))
  try {
    if (kind !== undefined) {
      const object = await reader.find<Readonly<Record<string, string>>>(`${kind}s.read`, { [`${kind}_id`]: id })
      const name = object?.['title'] ?? object?.['name'] ?? object?.['url']
      const page = PAGES[kind]
      return name === undefined ? undefined : quoted(id, name, page && `${reader.base}/${page}/${id}`)
    }
    if (!id.startsWith(`${idPrefixes.user}_`)) return undefined
    // The members of a workspace are no secret in it, and its former members are named in its trail.
    await reader.read('members.list', {}, { limit: '1' })
    const member = await reader.transact((tx) => tx.get(keys.membership(id)))
    return member && { id, name: member.display_name }
  } catch (error) {
    // Whatever refuses the read, the entry stays without a name.
    if (error instanceof ApiError) return undefined
    throw error
  }
}
