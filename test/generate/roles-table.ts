import type { Facts } from '../../src/policy/evaluate.ts'
import type { Engine } from '../../src/policy/engine.ts'
import { cells, type Cell } from '../../src/policy/enumerate.ts'
import { markdownTable } from '../../src/policy/matrix.ts'

/** Someone who is asked about: the values of their facts. A fact that a permission is not decided on makes no difference. */
const PEOPLE: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>> = {
  'creator of the board': { 'board.caller': 'creator', 'caller.role': 'member' },
  'explicit member of the board': { 'board.caller': 'member', 'caller.role': 'member' },
  'workspace member, workspace board': { 'board.caller': 'none', 'board.visibility': 'workspace', 'caller.role': 'member' },
  'owner or admin, workspace board': { 'board.caller': 'none', 'board.visibility': 'workspace', 'caller.role': ['owner', 'admin'] },
  'workspace member, private board of others': { 'board.caller': 'none', 'board.visibility': 'private', 'caller.role': 'member' },
  'owner or admin, private board of others': { 'board.caller': 'none', 'board.visibility': 'private', 'caller.role': ['owner', 'admin'] },
}

const hasFile = (facts: Facts) =>
  facts['file.owner'] === 'caller' ||
  facts['file.visibility'] === 'workspace' ||
  (facts['file.visibility'] === 'board' && ['workspace', 'private_member'].includes(facts['home.board']!))

/** What an answer that is neither yes nor no depends on, in words. */
const CONDITIONS: readonly { readonly words: string; readonly holds: (facts: Facts, field: string | undefined) => boolean }[] = [
  { words: 'if they wrote it', holds: (facts) => facts['comment.author'] === 'caller' },
  { words: 'if they created it', holds: (facts) => facts['webhook.creator'] === 'caller' },
  { words: 'if they own the file', holds: (facts) => facts['file.owner'] === 'caller' },
  { words: 'with access to the file', holds: hasFile },
  {
    words: 'with access to the file of the cover, or without a cover',
    holds: (facts) => facts['cover.state'] === 'none' || hasFile(facts),
  },
  { words: 'a label of this board', holds: (facts) => facts['label.board'] === 'this' },
  { words: 'a member of the workspace', holds: (facts) => facts['user.membership'] === 'active' },
  {
    words: 'someone with access to the board',
    holds: (facts) =>
      facts['user.membership'] === 'active' && (facts['board.visibility'] === 'workspace' || facts['user.board'] !== 'none'),
  },
  {
    words: 'yes; an admin not for owners',
    holds: (facts) => facts['caller.role'] === 'owner' || ![facts['member.role'], facts['given.role']].includes('owner'),
  },
  { words: 'name, description, cover color', holds: (_facts, field) => ['name', 'description', 'cover_color'].includes(field!) },
]

/** What a person can do, in words: `yes`, `no`, `404` if the resource looks absent to them, or under which condition. */
function answerFor(engine: Engine, person: (typeof PEOPLE)[string], all: readonly Cell[]): string {
  const asked = all.filter(({ facts }) =>
    Object.entries(person).every(([name, values]) => !Object.hasOwn(facts, name) || [values].flat().includes(facts[name]!)),
  )
  const outcomes = asked.map(({ permission, facts, fields }) => engine.decide(permission.id, facts, fields).outcome)
  if (outcomes.every((one) => one === 'allowed')) return 'yes'
  if (outcomes.every((one) => one === 'not_found')) return '404'
  if (!outcomes.includes('allowed')) return 'no'
  const found = CONDITIONS.find(({ holds }) => asked.every(({ facts, field }, i) => holds(facts, field) === (outcomes[i] === 'allowed')))
  if (found === undefined) throw new Error(`no words for the answers about ${asked[0]!.permission.id}: add them to CONDITIONS`)
  return found.words
}

const inWords = (name: string) => name.replaceAll('_', ' ')
const subjectInWords = (name: string) => name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).toLowerCase()

/** The page of roles by actions in plain words: the permissions with equal answers are one row. */
export function renderRoles(engine: Engine): string[] {
  const { vocabulary } = engine
  const all = [...cells(vocabulary)].filter(({ facts }) => facts['caller.membership'] === 'active')
  const groups = new Map<string, { readonly answers: readonly string[]; readonly actions: Map<string, string[]> }>()
  for (const { id, action, subject, surface } of vocabulary.permissions.values()) {
    const scope =
      surface === undefined
        ? engine.checkScope(id, { [vocabulary.scopeOrder.name]: vocabulary.scopeOrder.values[0]! }).required
        : 'no token'
    const answers = [
      scope,
      ...Object.values(PEOPLE).map((person) =>
        answerFor(
          engine,
          person,
          all.filter(({ permission }) => permission.id === id),
        ),
      ),
    ]
    const key = answers.join('|')
    const group = groups.get(key) ?? { answers, actions: new Map<string, string[]>() }
    groups.set(key, group)
    group.actions.set(subject, [...(group.actions.get(subject) ?? []), inWords(action)])
  }
  const rank = [...vocabulary.scopeOrder.values, 'no token']
  const rows = [...groups.values()]
    .toSorted((one, other) => rank.indexOf(one.answers[0]!) - rank.indexOf(other.answers[0]!))
    .map(({ answers, actions }) => {
      const words = [...actions].map(([subject, names]) => `**${subjectInWords(subject)}**: ${names.join(', ')}`)
      return [words.join('; '), ...answers]
    })
  return [
    '## Roles and actions',
    '',
    'A row has the actions with the same answers. The person is an active member of the workspace, and their token has the scope of the row; in the web app',
    'they need none. "404": the resource looks as if it did not exist. The [next table](#operations) has every operation with its exact condition.',
    '',
    ...markdownTable(['action', 'minimum scope', ...Object.keys(PEOPLE)], rows),
    '',
  ]
}
