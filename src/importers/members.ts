import { AdminError } from '../admin/deps.ts'
import type { ForeignBoard, ForeignPerson } from './foreign-board.ts'
import type { ImportReport } from './report.ts'

/** A member of the workspace. */
export interface Member {
  readonly user_id: string
  readonly display_name: string
}

/** Finds the users of the workspace for the people of another program: those that are stated, then those with the same name. */
export class MemberMatcher {
  readonly #users = new Map<string, string>()

  /**
   * @param stated pairs of a person (id, user name or name) and a user (id or name)
   * @throws {AdminError} `invalid` if a pair names someone who does not exist, or several
   */
  constructor(people: readonly ForeignPerson[], members: readonly Member[], stated: readonly string[], report: ImportReport) {
    for (const pair of stated) {
      const [theirs, ours] = splitPair(pair)
      const person = only(
        people.filter((candidate) => isCalled(candidate, theirs)),
        `--member: "${theirs}"`,
        'of the file',
      )
      const user = only(
        members.filter((member) => member.user_id === ours || isSame(member.display_name, ours)),
        `--member: "${ours}"`,
        'of the workspace',
      )
      this.#users.set(person.id, user.user_id)
    }
    for (const person of people) {
      if (this.#users.has(person.id)) continue
      const [user, ...others] = members.filter(({ display_name }) => isSame(display_name, person.name))
      if (user !== undefined && others.length === 0) this.#users.set(person.id, user.user_id)
      else if (person.onBoard) report.add('members_unmatched', nameOf(person))
    }
  }

  /** The user for a person, or undefined. */
  find(personId: string): string | undefined {
    return this.#users.get(personId)
  }
}

/** The members of a board, and those who are assigned to its cards, without the user who imports it. */
export function explicitMembers({ cards, people }: ForeignBoard, members: MemberMatcher, userId: string): Set<string> {
  const assigned = cards.flatMap(({ assignees }) => assignees)
  const onBoard = people.filter((person) => person.onBoard).map(({ id }) => id)
  const users = new Set([...onBoard, ...assigned].flatMap((id) => members.find(id) ?? []))
  users.delete(userId)
  return users
}

/** A person as a comment names them. */
export function nameOf({ name, username }: ForeignPerson): string {
  return username === null ? name : `${name} (@${username})`
}

function splitPair(pair: string): [theirs: string, ours: string] {
  const at = pair.lastIndexOf('=')
  const [theirs, ours] = [pair.slice(0, Math.max(at, 0)).trim(), pair.slice(at + 1).trim()]
  if (theirs === '' || ours === '') throw new AdminError('invalid', `--member: "${pair}" is not of the form THEIRS=OURS`)
  return [theirs, ours]
}

function isCalled({ id, name, username }: ForeignPerson, text: string): boolean {
  return id === text || isSame(name, text) || (username !== null && isSame(username, text.replace(/^@/, '')))
}

function only<T>(found: readonly T[], what: string, where: string): T {
  if (found.length === 1) return found[0]!
  throw new AdminError('invalid', `${what} is ${found.length === 0 ? 'no member' : 'the name of several members'} ${where}`)
}

/** Names are equal without regard to case, to how a letter was typed, and to the spaces around them. */
function isSame(a: string, b: string): boolean {
  return fold(a) === fold(b)
}

function fold(text: string): string {
  return text.normalize('NFC').toLowerCase().trim()
}
