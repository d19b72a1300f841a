import { loadEngine, type Engine, type PolicyFile, type PolicyFiles } from '../../src/policy/engine.ts'

/** A policy that holds, with a few cells and one of everything that a policy can have: the result of each function can be written by hand. */
const texts: Readonly<Record<PolicyFile, string>> = {
  vocabulary: `version: 1
facts:
  token: { scope: { values: [none, "s:read", write], means: the scope of the token } }
  caller: { role: { values: [owner, member], means: the role of the caller } }
  board: { visibility: { values: [open, closed], means: the visibility of the board } }
  comment: { author: { values: [caller, other], means: the author of the comment } }
scope_order: token.scope
definitions:
  board.access: { groups: [caller, board], means: the caller can see the board }
  board.control: { groups: [caller, board], means: the caller can administer the board }
subjects: { Board: { fields: [visibility, name] }, Comment: {}, Log: {} }
permissions:
  - { groups: [caller, board], not_found_unless: [board.access], actions: { read: [Board] } }
  - { groups: [caller, board], not_found_unless: [board.access], by_field: true, actions: { update: [Board] } }
  - { groups: [caller, board], not_found_unless: [board.access], forbidden_unless: [board.control], actions: { delete: [Board] } }
  - { groups: [caller, board, comment], not_found_unless: [board.access], actions: { read: [Comment], update: [Comment] } }
  - { groups: [caller], surface: web_app, actions: { read: [Log] } }
`,
  specification: `version: 1
rows:
  S1: { scope: "s:read", words: read }
  S2: { scope: write, words: write }
  D1: { words: board access }
  D2: { words: control of a board }
  P1: { scope: "s:read", words: read what can be seen }
  P2: { scope: write, words: change it }
  X1: { surface: web_app, words: read the log }
`,
  scopes: `version: 1
rules:
  - { id: S1, row: S1, action: read, subject: [Board, Comment], conditions: { token.scope: { $in: ["s:read", write] } }, reason: Reads. }
  - { id: S2.update, row: S2, action: update, subject: [Board, Comment], conditions: { token.scope: write }, reason: Writes. }
  - { id: S2.delete, row: S2, action: delete, subject: Board, conditions: { token.scope: write }, reason: Writes. }
`,
  permissions: `version: 1
rules:
  - { id: D1.open, row: D1, action: define, subject: board.access, conditions: { board.visibility: open }, reason: It is open. }
  - { id: D1.owner, row: D1, action: define, subject: board.access, conditions: { caller.role: owner }, reason: Owners see all. }
  - { id: D2, row: D2, action: define, subject: board.control, conditions: { board.access: true, caller.role: owner }, reason: Owners. }
  - { id: P1, row: P1, action: read, subject: [Board, Comment], conditions: { board.access: true }, reason: It is seen. }
  - { id: P2.name, row: P2, action: update, subject: Board, fields: [name], conditions: { board.access: true }, reason: A name. }
  - { id: P2.all, row: P2, action: update, subject: Board, fields: [visibility], conditions: { board.access: true, caller.role: owner }, reason: An owner. }
  - { id: P2.own, row: P2, action: update, subject: Comment, conditions: { board.access: true, comment.author: caller }, reason: An author. }
  - { id: P2.gone, row: P2, action: delete, subject: Board, conditions: { board.access: true, board.control: true }, reason: An owner. }
  - { id: X1, row: X1, action: read, subject: Log, conditions: { caller.role: owner }, reason: An owner. }
`,
  cases: `version: 1
axes:
  access:
    seen: [{ board.visibility: open }, { board.visibility: closed, caller.role: owner }]
    hidden: { board.visibility: closed, caller.role: member }
  role: { owner: { caller.role: owner }, member: { caller.role: member } }
  author: { own: { comment.author: caller }, foreign: { comment.author: other } }
always: []
decisions:
  seen: { down: access, seen: ok, hidden: 404 }
  owned: { down: access, across: role, seen: [ok, 403], hidden: [404, 404] }
  own: { down: access, across: author, seen: [ok, 403], hidden: [404, 404] }
  owners: { down: role, owner: ok, member: 403 }
`,
  operations: `version: 1
operations:
  boards.read: [GET, /boards, read, P1, read Board, seen]
  boards.update: [PATCH, /boards, write, P2, update Board, { name: seen, visibility: owned }]
  boards.delete: [DELETE, /boards, write, P2, delete Board, owned]
  comments.read: [GET, /comments, read, P1, read Comment, seen]
  comments.update: [PATCH, /comments, write, P2, update Comment, own, { board: [P1, read Board, seen] }]
web_app:
  log.read: [X1, read Log, owners]
`,
}

export type Edit = readonly [file: PolicyFile, from: string, to: string]

/** The files, with edits of their texts. */
export function smallFiles(...edits: readonly Edit[]): PolicyFiles {
  const edited = { ...texts }
  for (const [file, from, to] of edits) {
    if (edited[file].split(from).length !== 2) throw new Error(`"${from}" does not occur exactly once in ${file}`)
    edited[file] = edited[file].replace(from, () => to)
  }
  return Object.fromEntries(Object.entries(edited).map(([file, text]) => [file, { path: `${file}.yaml`, text }])) as PolicyFiles
}

export function small(...edits: readonly Edit[]): Engine {
  return loadEngine(smallFiles(...edits))
}
