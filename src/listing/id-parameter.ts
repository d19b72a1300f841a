import { z } from 'zod'
import { documented, OWN_ID } from '../model/fields.ts'
import { idPattern, idPrefixes, isId, type IdKind } from '../model/ids.ts'

/**
 * A query parameter that is the id of something. A malformed one is refused: a list without what was meant by it would be taken for
 * an answer (api: Contract 3, number 1).
 * @param words what it can be instead of an id
 */
export function idParameter(kind: IdKind, description: string, ...words: readonly string[]) {
  const error = `must be ${words.map((word) => `${word}, or `).join('')}the id of a ${kind}, which begins with ${idPrefixes[kind]}_`
  const schema = z.string().refine((text) => words.includes(text) || isId(kind, text), error)
  const pattern = words.length === 0 ? idPattern(kind) : `^(?:${[...words, idPattern(kind).slice(1, -1)].join('|')})$`
  return documented(schema, { description, pattern, minLength: Math.min(24, ...words.map(({ length }) => length)), maxLength: 24 })
}

/**
 * A query parameter that is the id of a user. `me` stands for the caller's own, and was replaced before it is validated.
 * @param words what else it can be
 */
export function userIdParameter(description: string, ...words: readonly string[]) {
  return idParameter('user', `${description} \`me\` is the user of the token.`, OWN_ID, ...words)
}
