import { Readers } from '../authz/readers.ts'
import { durations } from '../model/durations.ts'
import { tellByTime } from '../resources/notices/by-time.ts'
import { SERVICE } from '../store/derivation.ts'
import { transact } from '../store/transact.ts'
import { WorkspaceRounds, type RoundsDeps } from './workspace-rounds.ts'

/** Looks for what time has caused: notices of cards that are due, tokens that end, cards that are stuck. */
export class Reminders extends WorkspaceRounds {
  readonly #deps: RoundsDeps

  constructor(deps: RoundsDeps) {
    const failure = { event: 'notices.waiting', message: 'notices that time causes are not told at present' }
    super(deps, { ...durations.reminders, busy: 0 }, failure)
    this.#deps = deps
  }

  protected visit(workspaceId: string): Promise<void> {
    return this.#deps.services().store.hold(workspaceId, () => this.#tell(workspaceId))
  }

  async #tell(workspaceId: string): Promise<void> {
    const { services, random } = this.#deps
    for (let more = true; more && !this.isStopping;) {
      const { store, clock, engine } = services()
      more = await transact(store, workspaceId, random, (tx) => {
        const readers = new Readers(engine, workspaceId)
        tx.logChanges(SERVICE, clock, readers)
        return tellByTime(tx, clock, readers)
      })
    }
  }
}
