import type { Engine } from './engine.ts'

/** An operation, as the matrix and the report show it. */
export interface ListedOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  /** of the permission */
  readonly needs: readonly [action: string, subject: string]
  /** `filtered_list`: what may not be read is left out */
  readonly kind: string
  /** what is asked in addition about each item of a member of the body */
  readonly also: readonly { readonly member: string; readonly needs: readonly [action: string, subject: string] }[]
}

/** The operations that the hand-written decisions of a policy describe: without a service, nothing else knows them. */
export function operationsOf({ decisions }: Engine): ListedOperation[] {
  return [...decisions.operations.values()].map(({ id, method, path, permission, also }) => {
    const further = [...also].map(([member, one]) => ({ member, needs: partsOf(one.permission) }))
    return { id, method, path, needs: partsOf(permission), kind: 'single', also: further }
  })
}

function partsOf(permission: string): readonly [string, string] {
  return permission.split(' ') as [string, string]
}
