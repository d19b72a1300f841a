import type { Logger } from 'pino'
import type { App } from '../app.ts'
import type { Metrics } from '../http/metrics.ts'

/** The signal SIGHUP, which loads the policy again (see `replacePolicy`). */
export class ReloadSignal {
  #isPending = false
  #reload: (() => void) | undefined
  readonly #onSignal = (): void => (this.#reload === undefined ? void (this.#isPending = true) : this.#reload())

  constructor() {
    process.on('SIGHUP', this.#onSignal)
  }

  /** From now on the signal has an effect; one that came before has it now, because the policy may have been read before it was changed. */
  async serve(app: App, folder: string, log: Logger, metrics: Metrics | undefined): Promise<void> {
    const { replacePolicy, warnOfDepartures } = await import('./policy/replace.ts')
    warnOfDepartures(app.services.engine, log)
    let last: Promise<void> = Promise.resolve()
    const reload = async (): Promise<void> => {
      const isReplaced = await replacePolicy(app, folder, log)
      metrics?.countReload(isReplaced)
      metrics?.statePolicy(app.services.engine.hash)
    }
    // One after the other, each with the files of its time.
    this.#reload = () => void (last = last.then(reload))
    if (this.#isPending) this.#reload()
  }
}
