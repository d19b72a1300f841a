interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly default?: unknown
}

/** Which arguments a client adds to those that its model wrote. */
export type Form = 'as they are written' | 'with every default, and null for all others' | 'with every default'

/** The arguments of a call in a form, also those in lists of objects. @param schema of the tool, as the service lists it */
export function inForm(form: Form, schema: Schema, given: unknown): any {
  if (form === 'as they are written') return given
  if (Array.isArray(given)) return given.map((item) => inForm(form, schema.items ?? {}, item))
  const { properties } = schema
  if (properties === undefined || typeof given !== 'object' || given === null) return given
  const members = Object.entries(properties).flatMap(([name, member]) => {
    if (Object.hasOwn(given, name)) return [[name, inForm(form, member, (given as Record<string, unknown>)[name])]]
    if (member.default !== undefined) return [[name, member.default]]
    return form === 'with every default' ? [] : [[name, null]]
  })
  return Object.fromEntries(members)
}
