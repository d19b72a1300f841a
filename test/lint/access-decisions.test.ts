import { describe, expect, test } from 'vitest'
import { findAccessDecisions, type Finding } from './access-decisions.ts'
import { allowedComparisons } from './allowed-comparisons.ts'
import { filesBelow, parse } from './syntax.ts'

/** Where decisions belong, where facts are read, and what serves no request: the demo world, and what the operator does, who may do everything. */
const EXEMPT = ['src/policy/', 'src/authz/facts.ts', 'src/demo/', 'src/cli/', 'src/admin/', 'src/importers/']
/** They answer as requests are decided. */
const STORED_ANSWERS = new Set(
  ['stored-answers', 'stored-explanation', 'stored-request', 'assumed-caller'].map((name) => `src/cli/policy/${name}.ts`),
)

const sources = filesBelow('src')
  .filter((path) => path.endsWith('.ts') && (STORED_ANSWERS.has(path) || !EXEMPT.some((prefix) => path.startsWith(prefix))))
  .map((path) => parse(path))

/** Each is a decision, or gives another name to what one could be made of. */
const flagged = [
  // Roles and visibilities are compared.
  `if (caller.membership.role === 'owner') allow()`,
  `if ('admin' != member.role) deny()`,
  `if (caller?.membership?.role === word) allow()`,
  `if (member['role'] === word) allow()`,
  'if (member[`role`] === word) allow()',
  `class A { #role = read(); check() { return this.#role === word } }`,
  `if ((member.role as string)! === word) allow()`,
  'if (`${member.role}` === word) allow()',
  `if ('is ' + member.role === word) allow()`,
  `if (String(member.role).trim().toLowerCase() === word) allow()`,
  `if (member.role[0] === 'o') allow()`,
  `if (member.role.length > 5) allow()`,
  `switch (member.role) { case word: allow() }`,
  `switch (level) { case 'owner': allow() }`,
  `switch (true) { case member.role === word: allow() }`,
  `if (board.visibility === 'workspace') show()`,
  `if (token.scopes.includes('kanban:admin')) allow()`,
  // They are looked up.
  `if (['owner', 'admin'].includes(role)) allow()`,
  `const rights = { a: true, b: true }; if (rights[member.role]) allow()`,
  `const rights = { owner: true, admin: true }; if (rights[level]) allow()`,
  `const { [member.role]: right } = rights`,
  `if (member.role in rights) allow()`,
  `const privileged = new Set(['owner', 'admin']); if (privileged.has(level)) allow()`,
  `if (roles.indexOf(level) < 2) allow()`,
  `if (Object.hasOwn(rights, member.role)) allow()`,
  `if (Array.prototype.includes.call(words, member.role)) allow()`,
  `if (/^(own|adm)/.test(member.role)) allow()`,
  `if (member.role.match(pattern)) allow()`,
  `if (privileged.safeParse(member.role).success) allow()`,
  // They get another name.
  `const level = caller.membership.role; const ok = level === word`,
  `let level; level = member.role; if (level === word) allow()`,
  `const { role: level } = member; if (level === word) allow()`,
  `const { membership: { role: level = fallback } } = caller; if (level !== word) deny()`,
  `const mayDelete = ({ role: level }: Member) => level === word`,
  `class A { constructor(m) { this.level = m.role } check() { return this.level === word } }`,
  `const view = { level: member.role }; if (view.level === word) allow()`,
  `if (members.map((member) => member.role).some((level) => level === word)) allow()`,
  `if (isHigh(member.role)) allow(); function isHigh(level) { return level === word }`,
  `const open = (board ?? file).visibility; if (open !== word) hide()`,
  // A creator, an author, an owner or another person is compared.
  `const { creator_id: maker } = board; if (maker === me) allow()`,
  `if (comment.author_id !== me) deny()`,
  `const own = file.owner_id === me`,
  `if (card.assignee_ids.includes(caller.userId)) allow()`,
  `const { userId: me } = caller; if (record.by === me) allow()`,
  `if (sameId(board.creator_id, caller.userId)) allow()`,
  `if (same(board.creator_id, me)) allow(); function same(a, b) { return a === b }`,
  // A membership is asked for.
  `if (person.ended_at === null) allow()`,
  `if (person.ended_at) deny()`,
  `const present = members.filter(isActive)`,
  `import { isActive as live } from '../model/workspace.ts'; if (live(member)) allow()`,
  `const live = isActive; const present = members.some(live)`,
  `if (boardMember) allow()`,
  `if (boardMember === undefined) deny()`,
  `const stranger = !context.boardMember`,
  `const answer = boardMember && board`,
  `const answer = boardMember ?? deny()`,
  `const entry = await tx.get(keys.boardMember(id, me)); if (entry !== undefined) allow()`,
  `const [board, entry] = await tx.read([keys.board(id), keys.boardMember(id, me)]); if (entry) allow()`,
]

const accepted = [
  `const entry = (member) => ({ role: member.role, name: member.name })`,
  `tx.put(keys.membership(id), { ...member, role, updated_at })`,
  `const members = await tx.read([keys.membership(board.creator_id), keys.boardMember(board.id, board.creator_id)])`,
  `const body = z.strictObject({ role: z.enum(roles), visibility: z.enum(visibilities) })`,
  `type Level = Member['role'] extends 'owner' ? 'owner' : 'admin'; let level: 'owner' | 'admin'`,
  `if (userId === undefined || typeof role === 'string') usage()`,
  `const entries = indexes.boardsOf(board.creator_id)`,
  `const ok = [state === 'active', kind === 'workspace', event.type === 'rotate', states.includes(state)]`,
  `if (board === undefined || entry.revision !== expected) retry()`,
  'html`<p role="alert">${text}</p>`',
  `const { owner_id: ownerId } = file; tx.put(keys.file(id), { ...file, owner_id: ownerId })`,
  `if (!engine.holds('user.belongs', facts)) deny()`,
]

const findingsIn = (text: string, path = 'src/snippet.ts'): Finding[] => findAccessDecisions([parse(path, text)])

describe('the rule about access decisions', () => {
  test.each(flagged)('flags: %s', (text) => expect(findingsIn(text)).not.toEqual([]))

  test.each(accepted)('accepts: %s', (text) => expect(findingsIn(text)).toEqual([]))

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
