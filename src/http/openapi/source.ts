import { readFileSync } from 'node:fs'
import { packageFile } from '../../model/package-files.ts'
import type { Engine } from '../../policy/engine.ts'
import type { Operation } from '../../resources/operation.ts'
import type { RateQuotas } from '../../governor/quotas.ts'

/** What the document is made from. */
export interface DocumentSource {
  readonly engine: Engine
  readonly operations: readonly Operation[]
  /** the maximum size of an upload in bytes */
  readonly uploadBytes: number
  /** undefined: requests are not limited */
  readonly quotas: RateQuotas | undefined
  /** the path below which the service is, such as `/kanban`; default: nothing else is at its origin */
  readonly base?: string
  /** default: the repository's */
  readonly examples?: RecordedExamples
}

/** A request and its response, as the service answered it on the demo data. */
export interface RecordedExample {
  /** the parameters of the path */
  readonly params: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly response: unknown
}

/** `fixtures/openapi-examples.json`, which `npm run matrix` writes. */
export interface RecordedExamples {
  /** by the id of the operation */
  readonly operations: Readonly<Record<string, RecordedExample>>
  /** the body of a response with each error */
  readonly errors: Readonly<Record<string, unknown>>
}

/** Read when this module is loaded: a document is also made later, for another policy. */
export const recordedExamples = JSON.parse(readFileSync(packageFile('fixtures/openapi-examples.json'), 'utf8')) as RecordedExamples
