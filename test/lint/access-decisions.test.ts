import { describe, expect, test } from 'vitest'
import { findAccessDecisions, type Finding } from './access-decisions.ts'
import { allowedComparisons } from './allowed-comparisons.ts'
import { filesBelow, parse } from './syntax.ts'

/** Where decisions belong, where facts are read, and what serves no request: the demo world, and what the operator does, who may do everything. */
const EXEMPT = ['src/policy/', 'src/authz/facts.ts', 'src/demo/', 'src/cli/', 'src/admin/', 'src/importers/']
/** It answers as requests are decided. */
const STORED_ANSWERS = 'src/cli/policy/stored-answers.ts'

const sources = filesBelow('src')
  .filter((path) => path.endsWith('.ts') && (path === STORED_ANSWERS || !EXEMPT.some((prefix) => path.startsWith(prefix))))
  .map((path) => parse(path))

const flagged: Readonly<Record<string, string>> = {
  'a role compared with a literal': `if (caller.membership.role === 'owner') allow()`,
  'the literal first, with !=': `if ('admin' != member.role) deny()`,
  'a list of literals that includes the role': `if (['owner', 'admin'].includes(role)) allow()`,
  'a renamed variable': `const level = caller.membership.role; const ok = level === word`,
  'a variable that is assigned later': `let level; level = member.role; if (level === word) allow()`,
  'a destructured and renamed role': `const { role: level } = member; if (level === word) allow()`,
  'a role from nested destructuring': `const { membership: { role: level = fallback } } = caller; if (level !== word) deny()`,
  'a destructured parameter': `const mayDelete = ({ role: level }: Member) => level === word`,
  'optional chaining': `if (caller?.membership?.role === word) allow()`,
  'a computed property': `if (member['role'] === word) allow()`,
  'a computed property in a template': 'if (member[`role`] === word) allow()',
  'a private field': `class A { #role = read(); check() { return this.#role === word } }`,
  'a role kept in another field': `class A { constructor(m) { this.level = m.role } check() { return this.level === word } }`,
  'a property that is renamed on the way': `const view = { level: member.role }; if (view.level === word) allow()`,
  'a template string': 'if (`${member.role}` === word) allow()',
  'a concatenation': `if ('is ' + member.role === word) allow()`,
  'a converted role': `if (String(member.role).trim().toLowerCase() === word) allow()`,
  'a letter of a role': `if (member.role[0] === 'o') allow()`,
  'the length of a role': `if (member.role.length > 5) allow()`,
  'a cast': `if ((member.role as string)! === word) allow()`,
  'switch over a role': `switch (member.role) { case word: allow() }`,
  'switch with literals only': `switch (level) { case 'owner': allow() }`,
  'switch (true)': `switch (true) { case member.role === word: allow() }`,
  'a lookup table': `const rights = { a: true, b: true }; if (rights[member.role]) allow()`,
  'a lookup table of literals': `const rights = { owner: true, admin: true }; if (rights[level]) allow()`,
  'a lookup by destructuring': `const { [member.role]: right } = rights`,
  'a lookup with in': `if (member.role in rights) allow()`,
  'a Set of literals': `const privileged = new Set(['owner', 'admin']); if (privileged.has(level)) allow()`,
  'a Map': `const rights = new Map(entries); if (rights.get(member.role)) allow()`,
  'Map entries of literals': `const rights = new Map([['owner', 1]]); if (rights.get(level)) allow()`,
  'the order of the roles': `if (roles.indexOf(level) < 2) allow()`,
  'Reflect.has': `if (Reflect.has(rights, member.role)) allow()`,
  'Object.hasOwn': `if (Object.hasOwn(rights, member.role)) allow()`,
  'Object.is': `if (Object.is(member.role, word)) allow()`,
  'Array.prototype.includes.call': `if (Array.prototype.includes.call(words, member.role)) allow()`,
  'a regular expression': `if (/^(own|adm)/.test(member.role)) allow()`,
  match: `if (member.role.match(pattern)) allow()`,
  search: `if (member.role.search(pattern) > 0) allow()`,
  'a schema': `if (privileged.safeParse(member.role).success) allow()`,
  'some over literals': `if (['owner', 'admin'].some((word) => word === level)) allow()`,
  'some over roles': `if (members.map((member) => member.role).some((level) => level === word)) allow()`,
  'a loop over literals': `for (const word of ['owner', 'admin']) if (word === level) allow()`,
  'a function that returns a role': `const levelOf = (member) => member.role; if (levelOf(caller) === word) allow()`,
  'a function that is given a role': `if (isHigh(member.role)) allow(); function isHigh(level) { return level === word }`,
  'a visibility': `if (board.visibility === 'workspace') show()`,
  'a visibility behind a conditional': `const open = (board ?? file).visibility; if (open !== word) hide()`,
  'the creator and the caller': `if (board.creator_id === caller.userId) allow()`,
  'the creator under another name': `const { creator_id: maker } = board; if (maker === me) allow()`,
  'the author': `if (comment.author_id !== me) deny()`,
  'the owner of a file': `const own = file.owner_id === me`,
  'the caller among assignees': `if (card.assignee_ids.includes(caller.userId)) allow()`,
  'an unknown id and the caller': `const { userId: me } = caller; if (record.by === me) allow()`,
  'a helper that compares two ids': `if (sameId(board.creator_id, caller.userId)) allow()`,
  'a helper that compares an id that it is given': `if (same(board.creator_id, me)) allow(); function same(a, b) { return a === b }`,
  'an imported deep comparison': `if (isDeepStrictEqual(file.owner_id, me)) allow()`,
  'the end of a membership': `if (person.ended_at === null) allow()`,
  'the end of a membership, without comparison': `if (person.ended_at) deny()`,
  'the predicate of the model': `if (isActive(member)) allow()`,
  'the predicate as a callback': `const present = members.filter(isActive)`,
  'the predicate under another name': `import { isActive as live } from '../model/workspace.ts'; if (live(member)) allow()`,
  'the predicate in a variable': `const live = isActive; const present = members.some(live)`,
  'a board member by presence': `if (boardMember) allow()`,
  'a board member by absence': `if (boardMember === undefined) deny()`,
  'a board member, negated': `const stranger = !context.boardMember`,
  'a board member by &&': `const answer = boardMember && board`,
  'a board member by ??': `const answer = boardMember ?? deny()`,
  'a board member that was read': `const entry = await tx.get(keys.boardMember(id, me)); if (entry !== undefined) allow()`,
  'a board member among what was read': `const [board, entry] = await tx.read([keys.board(id), keys.boardMember(id, me)]); if (entry) allow()`,
  'a scope': `if (token.scopes.includes('kanban:admin')) allow()`,
}

const accepted: Readonly<Record<string, string>> = {
  'a role in an answer': `const entry = (member) => ({ role: member.role, name: member.name })`,
  'a record with a role': `tx.put(keys.membership(id), { ...member, role, updated_at })`,
  'a storage key of a creator': `const members = await tx.read([keys.membership(board.creator_id), keys.boardMember(board.id, board.creator_id)])`,
  'a schema': `const body = z.strictObject({ role: z.enum(roles), visibility: z.enum(visibilities) })`,
  types: `type Level = Member['role'] extends 'owner' ? 'owner' : 'admin'; let level: 'owner' | 'admin'`,
  'an absent parameter': `if (userId === undefined || typeof role === 'string') usage()`,
  'an index of the store': `const entries = indexes.boardsOf(board.creator_id)`,
  'other words': `const ok = [state === 'active', kind === 'workspace', event.type === 'rotate', states.includes(state)]`,
  'other records': `if (board === undefined || entry.revision !== expected) retry()`,
  'an attribute of HTML': 'html`<p role="alert">${text}</p>`',
  'a name in both spellings': `const { owner_id: ownerId } = file; tx.put(keys.file(id), { ...file, owner_id: ownerId })`,
  'the policy': `if (!engine.holds('user.belongs', facts)) deny()`,
}

const findingsIn = (text: string, path = 'src/snippet.ts'): Finding[] => findAccessDecisions([parse(path, text)])

describe('the rule about access decisions', () => {
  test.each(Object.entries(flagged))('flags %s', (_name, text) => expect(findingsIn(text)).not.toEqual([]))

  test.each(Object.entries(accepted))('accepts %s', (_name, text) => expect(findingsIn(text)).toEqual([]))

  test('reports the text of the expression in one line', () => {
    expect(findingsIn(`const ok = 'é→😀'\nconst may =\n  board.creator_id ===\n    me`)).toEqual([
      { path: 'src/snippet.ts', expression: 'board.creator_id === me' },
    ])
  })
})

describe('the source code', () => {
  const findings = findAccessDecisions(sources)
  const allowed = Object.entries(allowedComparisons).flatMap(([path, ofPath]) => Object.keys(ofPath).map((text) => `${path}: ${text}`))

  test('contains no decision about access outside of the policy, and each comparison that is allowed', () => {
    const found = new Set(findings.map(({ path, expression }) => `${path}: ${expression}`))
    expect([...found].toSorted(), 'state it in policies/, or in test/lint/allowed-comparisons.ts with a reason').toEqual(allowed.toSorted())
  })

  test('has a reason for each comparison that is allowed', () => {
    const reasons = Object.values(allowedComparisons).flatMap((ofPath) => Object.values(ofPath))
    expect(reasons.filter((reason) => reason.length < 20)).toEqual([])
  })
})
