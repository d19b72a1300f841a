import type { Engine } from '../../policy/engine.ts'
import type { Operation } from '../../resources/operation.ts'
import type { RateQuotas } from '../rate-limits.ts'
import type { RecordedExamples } from './examples.ts'

/** What the document is made from. */
export interface DocumentSource {
  readonly engine: Engine
  readonly operations: readonly Operation[]
  /** the maximum size of an upload in bytes */
  readonly uploadBytes: number
  /** undefined: requests are not limited */
  readonly quotas: RateQuotas | undefined
  /** the public origin; undefined: the server of the document is stated relative to it */
  readonly origin: string | undefined
  /** default: those of the repository */
  readonly examples?: RecordedExamples
}
