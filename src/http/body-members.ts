import { z } from 'zod'
import { anyIdPattern, idPattern, idPrefixes, type IdKind } from '../model/ids.ts'
import type { Operation } from '../resources/operation.ts'

const idPatterns = new Set([anyIdPattern, ...(Object.keys(idPrefixes) as IdKind[]).map(idPattern)])

/** The members of the body of an operation. */
export function shapeOf({ body }: Operation): Readonly<Record<string, z.ZodType>> {
  return (body?.def as { readonly shape?: Record<string, z.ZodType> } | undefined)?.shape ?? {}
}

/** Whether a member is an id, or a list of ids. */
export function isIdMember(schema: z.ZodType): boolean {
  const pattern = z.globalRegistry.get(schema)?.['pattern']
  const { innerType, element } = schema.def as { readonly innerType?: z.ZodType; readonly element?: z.ZodType }
  const inner = innerType ?? element
  return (typeof pattern === 'string' && idPatterns.has(pattern)) || (inner !== undefined && isIdMember(inner))
}

/** Whether a member is a list. */
export function isListMember(schema: z.ZodType): boolean {
  const { type, innerType } = schema.def as { readonly type: string; readonly innerType?: z.ZodType }
  return type === 'array' || (innerType !== undefined && isListMember(innerType))
}
