import { AuditRecorder, type AuditOptions } from '../../src/audit/recorder.ts'
import { auditObserver, usageObserver } from '../../src/http/audit-observer.ts'
import type { AuditBatch, AuditEntry } from '../../src/model/audit.ts'
import { keys } from '../../src/store/keys.ts'
import { quiet } from './log.ts'
import type { Driver } from './drivers.ts'
import { Service, type ServiceOptions } from './service.ts'

/** Makes a service write an audit trail. It uses the service's clock. */
export function keepAudit(service: Service, options: AuditOptions = {}): AuditRecorder {
  const recorder = new AuditRecorder(service.deps, quiet, options)
  const { usage } = service.app.services
  Object.assign(service.app.services, { sinks: [usageObserver(usage), auditObserver(recorder)], proxies: 1 })
  return recorder
}

/** A service that keeps an audit trail, also of its web app. The recorder needs the clock of the service, which gets it before. */
export async function startWithAudit(driver: Driver, options: ServiceOptions = {}): Promise<{ service: Service; recorder: AuditRecorder }> {
  let recorder: AuditRecorder | undefined
  const audit = { add: (...args: Parameters<AuditRecorder['add']>) => recorder!.add(...args) } as AuditRecorder
  const service = await Service.start(driver, { proxies: 1, ...options, audit })
  recorder = keepAudit(service)
  return { service, recorder }
}

/** The batches of a partition as they are stored, in the order of their times. */
export async function storedBatches(service: Service, partition: string): Promise<AuditBatch[]> {
  const found = (await service.recordKeys(partition)).filter((key) => key.startsWith('audit:'))
  const batches = await service.write(partition, (tx) => tx.read(found.map((key) => keys.audit(key.slice('audit:'.length)))))
  return (batches as AuditBatch[]).toSorted((a, b) => (a.at < b.at ? -1 : 1))
}

/** The entries that a function causes in a workspace. */
export async function entriesOf(
  service: Service,
  recorder: AuditRecorder,
  partition: string,
  send: () => Promise<unknown>,
): Promise<AuditEntry[]> {
  await recorder.flush()
  const before = new Set((await storedBatches(service, partition)).map(({ id }) => id))
  await send()
  await recorder.flush()
  return (await storedBatches(service, partition)).filter(({ id }) => !before.has(id)).flatMap(({ entries }) => entries)
}
