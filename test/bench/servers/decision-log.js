// One process with two services on the same memory: one writes a decision log to a file, the other does not.
import { join } from 'node:path'
import { openDecisionLog } from '../../../dist/cli/decision-log.js'
import { engine, log, startBoth } from './two-services.js'

const [folder, sync] = process.argv.slice(2)
const settings = { decisionLog: join(folder, 'decisions.jsonl'), decisionLogSync: sync, decisionLogFull: 'fail', decisionLogBytes: 1e9 }
await startBoth({ decisionLog: await openDecisionLog(settings, engine.hash, log) })
