import { WORKS } from '../model/webhook.ts'
import { indexes, lastWord } from '../store/indexes.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { type Deps, listAll, transact } from '../store/transact.ts'
import type { Transaction } from '../store/transaction.ts'
import { requireWorkspace } from './workspaces.ts'

/** A webhook that is enabled, as the operator sees it. Its URL is not shown: it often works like a password. */
interface EnabledWebhook {
  readonly workspace: string
  readonly webhook: string
  readonly board: string
  readonly creator: string
  /** the host that it sends to */
  readonly host: string
}

/**
 * Enables the webhooks that a restore has disabled: they go on where the backup was. One whose creator may not read the board any more is
 * suspended at its next delivery, as always.
 * @throws {AdminError} `not_found`
 */
export async function enableWebhooks(
  deps: Deps,
  { workspace, dryRun = false }: { readonly workspace?: string | undefined; readonly dryRun?: boolean | undefined },
): Promise<EnabledWebhook[]> {
  if (workspace !== undefined) await requireWorkspace(deps, workspace)
  const { store, random } = deps
  const workspaces = workspace === undefined ? (await listAll(deps, GLOBAL, indexes.webhookWorkspaces())).map(({ id }) => id) : [workspace]
  const enabled: EnabledWebhook[] = []
  for (const workspaceId of workspaces)
    for (const id of await transact(store, workspaceId, random, restoredIn)) {
      const found = await transact(store, workspaceId, random, async (tx) => {
        const [webhook, progress] = await tx.read([keys.webhook(id), keys.webhookProgress(id)])
        if (webhook === undefined || progress?.restored !== true) return undefined
        const { restored: _restored, begun, ...others } = progress
        if (!dryRun) tx.put(keys.webhookProgress(id), { ...others, ...WORKS, begun })
        return webhook
      })
      if (found === undefined) continue
      const { board_id: board, creator_id: creator, url } = found
      enabled.push({ workspace: workspaceId, webhook: id, board, creator, host: new URL(url).host })
    }
  return enabled
}

async function restoredIn(tx: Transaction): Promise<string[]> {
  const { entries } = await tx.all(indexes.restoredWebhooks(), { weak: true, entriesOnly: true })
  return entries.map(lastWord)
}
