import type { Logger } from 'pino'
import type { App } from '../../app.ts'
import { readPolicyFiles } from '../../authz/shipped-policy.ts'
import { checkShippedRows } from '../../authz/shipped-rows.ts'
import { hashOf, loadEngineInTurns, type PolicyFiles } from '../../policy/engine.ts'
import { readPolicyTexts } from '../../policy/folder.ts'
import type { Departures } from './examination.ts'
import type { Examiner } from './examiner.ts'

/** A policy that is in use. */
export interface PolicyInUse {
  readonly folder: string
  /** as they were when it was loaded */
  readonly files: PolicyFiles
}

const REFUSED = 'the new policy is refused; the present policy stays in use'

/**
 * Loads the policy of a folder and uses it. One that is refused, that does not hold, or that allows more than the present one and does not
 * declare it (`widenings.yaml`) is not used: the log says why, and the present policy stays in use. So it does if the examiner fails. The
 * files are read once, so the policy in use has the hash of the examined one.
 * @param examiner proves and compares the policy while requests are answered
 * @returns the files of the policy of the folder, if it is in use now
 */
export async function replacePolicy(
  app: App,
  { folder, files }: PolicyInUse,
  log: Logger,
  examiner: Examiner,
): Promise<PolicyFiles | undefined> {
  const { hash: policy } = app.services.engine
  const refuse = (details: object, message: string): undefined => void log.error({ event: 'policy.refused', policy, ...details }, message)
  try {
    const proposed = readPolicyTexts(folder, folder)
    const examined = await examiner.examine(files, proposed)
    if (examined.outcome === 'refused') return refuse({ reason: examined.reason }, REFUSED)
    if (examined.outcome === 'undeclared')
      return refuse(
        { refused: examined.hash, permissions: examined.permissions },
        'the new policy allows more and does not declare it: see "lanekeeper policy diff"; the present policy stays in use',
      )
    if (examined.outcome === 'unchanged') {
      log.info({ event: 'policy.unchanged', policy }, 'the policy of the folder is the one in use')
      return files
    }
    const { before, changes, widened, departures } = examined
    if (before !== policy) throw new Error(`it was compared with the policy ${before}, which is not in use`)
    app.replacePolicy(await loadEngineInTurns(proposed, checkShippedRows), examined)
    log.info({ event: 'policy.replaced', before, policy: examined.hash, changes, widened }, 'the policy was replaced')
    warn(departures, examined.hash, log)
    return proposed
  } catch (error) {
    return refuse({ reason: (error as Error).message }, REFUSED)
  }
}

/** Warns if a policy answers something else than the shipped one about a row of the specification. It never rejects. */
export async function warnOfDepartures(files: PolicyFiles, log: Logger, examiner: Examiner): Promise<void> {
  const policy = hashOf(files)
  try {
    // Most folders begin as a copy of it.
    if (policy === hashOf(readPolicyFiles())) return
    warn(await examiner.departuresOf(files), policy, log)
  } catch (error) {
    warn({ failure: (error as Error).message }, policy, log)
  }
}

function warn(departures: Departures, policy: string, log: Logger): void {
  if ('failure' in departures)
    log.warn(
      { event: 'policy.not_compared', policy, reason: departures.failure },
      'the policy could not be compared with the shipped one: see "lanekeeper policy diff shipped FOLDER"',
    )
  else if (departures.rows.length > 0)
    log.warn(
      { event: 'policy.departs', policy, rows: departures.rows },
      'the policy decides rows of the specification in another way than the shipped one: see "lanekeeper policy diff shipped FOLDER"',
    )
}
