import { authorName } from '../../model/author.ts'
import type { ChangeRecord } from '../../model/change.ts'
import { keys } from '../../store/keys.ts'
import type { Reader } from '../reader.ts'

interface Made extends Pick<ChangeRecord, 'actor_id' | 'token_id' | 'token_name'> {
  /** whether the operator made it as a member */
  readonly isByOperator?: boolean
}

/** Who made changes, in words that can begin a sentence. */
export async function authorsOf(reader: Reader, changes: readonly Made[]): Promise<string[]> {
  const userIds = [...new Set(changes.flatMap(({ actor_id }) => actor_id ?? []))]
  const members = await reader.transact((tx) => tx.read(userIds.map((id) => keys.membership(id))))
  const names = new Map(userIds.map((id, i) => [id, members[i]?.display_name]))
  return changes.map(({ actor_id, token_id, token_name, isByOperator }): string => {
    if (actor_id === null) return 'The operator'
    const name = names.get(actor_id)
    if (isByOperator === true) return `The operator as ${authorName(name, null)}`
    // Changes from before tokens were named have no name.
    return authorName(name, token_id === null ? null : (token_name ?? 'A token'))
  })
}
