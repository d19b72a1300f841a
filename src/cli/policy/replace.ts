import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { loadPolicy, requireProof, type App } from '../../app.ts'
import { diffPolicies, undeclared } from '../../policy/diff.ts'
import type { Engine } from '../../policy/engine.ts'
import { readFolder } from './read-policy.ts'

/**
 * Loads the policy of a folder and uses it. One that is refused, that does not hold, or that allows more than the present one and does not
 * declare it (`widenings.yaml`) is not used: the log says why, and the present policy stays in use. Requests are answered between the steps.
 * @returns whether the policy of the folder is in use now
 */
export async function replacePolicy(app: App, folder: string, log: Logger): Promise<boolean> {
  const { engine: before } = app.services
  try {
    const { engine, widenings } = readFolder(folder)
    if (engine.hash === before.hash) {
      log.info({ event: 'policy.unchanged', policy: before.hash }, 'the policy of the folder is the one in use')
      return true
    }
    await nextTurn()
    requireProof(engine, app.services.operations)
    await nextTurn()
    const diff = diffPolicies(before, engine, widenings)
    const missing = undeclared(diff)
    if (missing.length > 0) {
      const permissions = [...new Set(missing.map((change) => ('name' in change ? `define ${change.name}` : change.permission)))]
      log.error(
        { event: 'policy.refused', policy: before.hash, refused: engine.hash, permissions },
        'the new policy allows more and does not declare it: see "lanekeeper policy diff"; the present policy stays in use',
      )
      return false
    }
    app.replacePolicy(engine)
    const widened = diff.changes.filter(({ kind }) => kind === 'widening').length
    log.info(
      { event: 'policy.replaced', before: before.hash, policy: engine.hash, changes: diff.changes.length, widened },
      'the policy was replaced',
    )
    await nextTurn()
    warnOfDepartures(engine, log)
    return true
  } catch (error) {
    log.error(
      { event: 'policy.refused', policy: before.hash, reason: (error as Error).message },
      'the new policy is refused; the present policy stays in use',
    )
    return false
  }
}

/**
 * Warns if a policy answers something else than the shipped one about a row of the specification. Its own decisions can say so: only the
 * words and scopes of these rows are fixed.
 */
export function warnOfDepartures(engine: Engine, log: Logger): void {
  const { changes } = diffPolicies(loadPolicy(), engine)
  const rows = new Set(changes.flatMap(({ permission }) => engine.expected.permissions.get(permission)?.row ?? []))
  const specified = [...rows].filter((row) => !row.startsWith('X')).toSorted()
  if (specified.length > 0)
    log.warn(
      { event: 'policy.departs', policy: engine.hash, rows: specified },
      'the policy decides rows of the specification in another way than the shipped one: see "lanekeeper policy diff shipped FOLDER"',
    )
}
