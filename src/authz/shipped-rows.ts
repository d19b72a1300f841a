import type { Row, SpecificationCheck } from '../policy/specification.ts'
import { specificationRows } from './specification.ts'

/**
 * Compares the rows of a policy with those of the service: their words and scopes are fixed, because the rules of a row would else be compared
 * with a sentence that was never specified. X rows are free. A policy of another domain has no such rows.
 */
export function rowsAre(shipped: ReadonlyMap<string, Row>): SpecificationCheck {
  return ({ domain, rows }, report) => {
    if (domain !== undefined) return report(['domain'], `this is a policy of ${domain}, not of this service`, undefined, 'key')
    for (const [id, { words, scopes }] of shipped) {
      const stated = rows.get(id)
      if (stated === undefined)
        report(
          ['rows'],
          `row ${id} is missing`,
          'the specification has it; a policy of another domain states its name: "domain: NAME"',
          'key',
        )
      else if (stated.words !== words)
        report(['rows', id, 'words'], `these are not the words of row ${id}`, `the specification says: ${words}`)
      else if (stated.scopes.join() !== scopes.join())
        report(['rows', id, 'scope'], `this is not the scope of row ${id}`, `the specification says: ${scopes.join(', ')}`)
    }
    for (const [id, { surface }] of rows) {
      if (id.startsWith('X')) continue
      if (surface !== undefined)
        report(['rows', id, 'surface'], `row ${id} is about tokens`, 'only an X row can be of the web app alone', 'key')
      if (!shipped.has(id)) report(['rows', id], `the specification has no row ${id}`, 'an extension is an X row', 'key')
    }
  }
}

/** The rows are those of the specification of the service (spec §5). */
export const checkShippedRows: SpecificationCheck = rowsAre(specificationRows)
