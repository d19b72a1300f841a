import type { Row, SpecificationCheck } from '../policy/specification.ts'

/**
 * The rows of the specification (spec §5), as `policies/specification.yaml` must state them. It is written here once more so that one edit
 * of one folder cannot change the policy and the sentence that it is compared with.
 */
export const specificationRows: ReadonlyMap<string, Row> = new Map<string, Row>([
  ['S1', { scopes: ['kanban:read'], words: 'kanban:read: list and read visible resources' }],
  [
    'S2',
    {
      scopes: ['kanban:write'],
      words: 'kanban:write: includes read; create and mutate boards, columns, cards and collaboration resources',
    },
  ],
  ['S3', { scopes: ['kanban:admin'], words: 'kanban:admin: includes write; manage board membership and visibility; permanent deletion' }],
  ['D1', { scopes: [], words: 'board access' }],
  ['D2', { scopes: [], words: 'current access to the file' }],
  ['D3', { scopes: [], words: 'the target user or label must belong to the board scope' }],
  ['D4', { scopes: [], words: 'a user ID is resolved in the workspace member directory' }],
  ['P1', { scopes: ['kanban:read'], words: 'Read account or the workspace member directory: active workspace membership' }],
  [
    'P2',
    {
      scopes: ['kanban:read'],
      words: 'List or read a board and its columns, cards, labels, members, subtasks, comments, attachments: board access',
    },
  ],
  ['P3', { scopes: ['kanban:write'], words: 'Create a workspace board: active workspace membership' }],
  ['P4', { scopes: ['kanban:write'], words: 'Edit board name, description or cover color: board access' }],
  ['P5', { scopes: ['kanban:admin'], words: 'Change board visibility: board creator' }],
  ['P6', { scopes: ['kanban:admin'], words: 'Add or remove explicit board members: board creator' }],
  ['P7', { scopes: ['kanban:admin'], words: 'Permanently delete a board: board access and either board creator or workspace owner/admin' }],
  ['P8', { scopes: ['kanban:write'], words: 'Create, rename, move or archive a column: board access' }],
  ['P9', { scopes: ['kanban:write'], words: 'Create, edit, move, complete, archive or restore a card: board access' }],
  ['P10', { scopes: ['kanban:admin'], words: 'Permanently delete a card: board access' }],
  ['P11', { scopes: ['kanban:write'], words: 'Create or delete a label: board access' }],
  [
    'P12',
    {
      scopes: ['kanban:write'],
      words: 'Assign users, apply labels, manage subtasks: board access; the target user or label must belong to the board scope',
    },
  ],
  ['P13', { scopes: ['kanban:write'], words: 'Create comments: board access' }],
  ['P14', { scopes: ['kanban:write'], words: 'Edit or delete comments: board access and being the comment author' }],
  ['P15', { scopes: ['kanban:write'], words: 'Attach or detach files, set or clear cover: board access and current access to the file' }],
])

/**
 * Compares the rows of a policy with the service's rows: their words and scopes are fixed, because the rules of a row would else be
 * compared with a sentence that was never specified. X rows are free. A policy of another domain has no such rows.
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

/** The rows of the service's specification (spec §5). */
export const checkShippedRows: SpecificationCheck = rowsAre(specificationRows)
