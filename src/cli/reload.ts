import type { Logger } from 'pino'
import type { App } from '../app.ts'
import type { Metrics } from '../metrics.ts'
import type { PolicyInUse } from './policy/replace.ts'

/** The signal SIGHUP, which loads the policy again (see `replacePolicy`). */
export class ReloadSignal {
  #isPending = false
  #reload: (() => void) | undefined
  readonly #onSignal = (): void => (this.#reload === undefined ? void (this.#isPending = true) : this.#reload())

  constructor() {
    process.on('SIGHUP', this.#onSignal)
  }

  /**
   * From now on the signal has an effect; one that came before has it now, because the policy may have been read before it was changed.
   * Whether the policy departs from the specification is found out in the background, before the first reload.
   */
  async serve(app: App, { folder, files }: PolicyInUse, log: Logger, metrics: Metrics | undefined): Promise<void> {
    const [{ replacePolicy, warnOfDepartures }, { threadExaminer }] = await Promise.all([
      import('./policy/replace.ts'),
      import('./policy/examiner.ts'),
    ])
    const examiner = threadExaminer()
    let inUse = files
    let last = warnOfDepartures(inUse, log, examiner)
    const reload = async (): Promise<void> => {
      const replacement = await replacePolicy(app, { folder, files: inUse }, log, examiner)
      inUse = replacement ?? inUse
      metrics?.countReload(replacement !== undefined)
      metrics?.statePolicy(app.services.engine.hash)
    }
    // One after the other, each with the files of its time.
    this.#reload = () => void (last = last.then(reload))
    if (this.#isPending) this.#reload()
  }
}
