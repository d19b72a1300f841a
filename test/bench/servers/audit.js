// One process with two services on the same memory: one keeps an audit trail and counts the uses of tokens, the other does neither.
import { AuditRecorder } from '../../../dist/audit/recorder.js'
import { deps, log, startBoth } from './two-services.js'

const [without] = await startBoth({ audit: new AuditRecorder(deps, log) })
Object.assign(without.services, { sinks: [] })
