import type { Logger } from 'pino'
import { requireProof, type App } from '../app.ts'
import type { Metrics } from '../http/metrics.ts'
import { diffPolicies, undeclared } from '../policy/diff.ts'
import { readFolder } from './policy/read-policy.ts'

/**
 * The signal SIGHUP, which loads the policy again. A policy that is refused, that does not hold, or that allows more than the present one and
 * does not declare it (`widenings.yaml`) is not used: the log says why, and the present policy stays in use.
 */
export class ReloadSignal {
  #isPending = false
  #reload: (() => void) | undefined
  readonly #onSignal = (): void => (this.#reload === undefined ? void (this.#isPending = true) : this.#reload())

  constructor() {
    process.on('SIGHUP', this.#onSignal)
  }

  /** From now on the signal has an effect; one that came before has it now, because the policy may have been read before it was changed. */
  serve(app: App, folder: string, log: Logger, metrics: Metrics | undefined): void {
    this.#reload = () => {
      metrics?.countReload(replacePolicy(app, folder, log))
      metrics?.statePolicy(app.services.engine.hash)
    }
    if (this.#isPending) this.#reload()
  }
}

/** @returns whether the policy of the folder is in use now */
function replacePolicy(app: App, folder: string, log: Logger): boolean {
  const { engine: before } = app.services
  try {
    const { engine, widenings } = readFolder(folder)
    requireProof(engine, app.services.operations)
    const diff = diffPolicies(before, engine, widenings)
    const missing = undeclared(diff)
    if (missing.length > 0) {
      const permissions = [...new Set(missing.map(({ permission }) => permission))]
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
    return true
  } catch (error) {
    log.error(
      { event: 'policy.refused', policy: before.hash, reason: (error as Error).message },
      'the new policy is refused; the present policy stays in use',
    )
    return false
  }
}
