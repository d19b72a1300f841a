// Operations that show each kind of rule, and all combinations of the facts that they depend on, as plain members of groups.

/** permission → the groups of its facts, and the fields that it is asked about */
export const operations = {
  'read Card': { groups: ['caller', 'board'] },
  'update Board': { groups: ['caller', 'board'], fields: ['name'] },
  'set_visibility Board': { groups: ['caller', 'board'] },
  'delete Board': { groups: ['caller', 'board'] },
  'add BoardMember': { groups: ['caller', 'board', 'user'] },
  'assign Card': { groups: ['caller', 'board', 'user'] },
  'create Comment': { groups: ['caller', 'board'] },
  'update Comment': { groups: ['caller', 'board', 'comment'] },
  'attach Attachment': { groups: ['caller', 'board', 'file', 'home'] },
}

const values = {
  token: { scope: ['none', 'kanban:read', 'kanban:write', 'kanban:admin'] },
  caller: { membership: ['active', 'ended'], role: ['owner', 'admin', 'member'] },
  board: { visibility: ['workspace', 'private'], caller: ['creator', 'member', 'none'] },
  user: { membership: ['active', 'ended'], board: ['creator', 'member', 'none'] },
  comment: { author: ['caller', 'other'] },
  file: { visibility: ['workspace', 'board', 'private'], owner: ['caller', 'other'] },
  home: { board: ['workspace', 'private_member', 'private_other', 'deleted'] },
}

/** Every combination of the facts of every operation. */
export function allCells() {
  return Object.entries(operations).flatMap(([permission, { groups, fields }]) => {
    const facts = ['token', ...groups].flatMap((group) => Object.entries(values[group]).map(([name, known]) => [group, name, known]))
    const combinations = facts.reduce(
      (cells, [group, name, known]) => cells.flatMap((cell) => known.map((value) => withFact(cell, group, name, value))),
      [{}],
    )
    return combinations.map((cell) => ({ permission, fields, facts: cell }))
  })
}

function withFact(cell, group, name, value) {
  return { ...cell, [group]: { ...cell[group], [name]: value } }
}
