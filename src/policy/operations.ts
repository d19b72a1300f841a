/** An operation, as the hand-written decisions describe it and a service states it: its permission, and the row that decides it. */
export interface PolicyOperation {
  readonly id: string
  /** `web`: only the web app does it, for a person who is signed in. No token can */
  readonly method: string
  /** of the web app: `app` */
  readonly path: string
  /** `action Subject` */
  readonly permission: string
  /** the row of the permission table that decides it */
  readonly row: string
  /** what is asked in addition about each item of a member of the body */
  readonly also: readonly FurtherPermission[]
  /** `filtered_list`: what may not be read is left out */
  readonly kind?: string
}

/** A further permission of an operation. */
export interface FurtherPermission extends Pick<PolicyOperation, 'permission' | 'row'> {
  /** the member of the body */
  readonly member: string
  /** what names an item in a 404; default: the member */
  readonly parameter?: string
}

/** An operation that only the web app does. */
export function webOperation<Id extends string>(id: Id, permission: string, row: string) {
  return { id, method: 'web', path: 'app', permission, row, also: [] } as const
}

/** Whether only the web app does it. */
export function isOfWebApp({ method }: Pick<PolicyOperation, 'method'>): boolean {
  return method === 'web'
}

/** What has the hand-written decisions of a policy. */
interface Described {
  readonly decisions: { readonly operations: ReadonlyMap<string, PolicyOperation> }
}

/** The operations that the hand-written decisions of a policy describe: without a service, nothing else knows them. */
export function operationsOf({ decisions }: Described): PolicyOperation[] {
  return [...decisions.operations.values()]
}

/** Some operations, and then all that only the web app does. */
export function withWebApp(engine: Described, operations: readonly PolicyOperation[]): PolicyOperation[] {
  return [...operations.filter((one) => !isOfWebApp(one)), ...operationsOf(engine).filter(isOfWebApp)]
}
