import type { VNode } from 'preact'
import { authorName, FORMER_MEMBER } from '../../model/author.ts'
import type { Comment } from '../../model/comment.ts'
import { initialsOf } from '../brand.ts'
import { html } from '../html.ts'
import { icon } from './icons.ts'
import { readAll, type Reader } from '../reader.ts'

/** How many pages of the directory are read at most, to find names. */
export const MAX_PAGES = 20

/** Somebody who can be chosen. */
export interface Member {
  readonly user_id: string
  readonly display_name: string
}

/** The people of a workspace, by their ids. */
export interface People {
  nameOf(userId: string): string
  /** undefined: no member */
  memberName(userId: string): string | undefined
  readonly members: readonly Member[]
}

export async function readPeople(reader: Reader): Promise<People> {
  const { items } = await readAll<Member>(reader, ['members.list'], MAX_PAGES)
  const names = new Map(items.map(({ user_id, display_name }) => [user_id, display_name]))
  const memberName = (userId: string) => names.get(userId)
  return { members: items, memberName, nameOf: (userId) => memberName(userId) ?? FORMER_MEMBER }
}

const TINTS = 6

/** The initials of a person in a circle. The same person has the same color everywhere. */
export function renderPerson(userId: string, name: string): VNode {
  let sum = 0
  for (const letter of userId) sum = (sum * 31 + letter.charCodeAt(0)) % 997
  return html`<span class="avatar tint-${sum % TINTS}" dir="auto" title=${name} role="img" aria-label=${name}>${initialsOf(name)}</span>`
}

/** Who wrote a comment, in words. */
export function writerName({ author_id, token_name }: Pick<Comment, 'author_id' | 'token_name'>, people: People): string {
  return authorName(people.memberName(author_id), token_name)
}

/** Who wrote a comment. The words of an agent look different from the words of its person. */
export function renderWriter(comment: Pick<Comment, 'author_id' | 'token_name'>, people: People): VNode {
  const { author_id, token_name } = comment
  if (token_name === null) return renderNamed(author_id, people)
  const ofPerson = writerName(comment, people).slice(token_name.length)
  return html`<span class="person by-token"
    ><span aria-hidden="true">${icon('claim')}</span
    ><strong dir="auto">${token_name}</strong>${ofPerson !== '' && html` <bdi>${ofPerson.trim()}</bdi>`}</span
  >` as VNode
}

/** A person with their name. */
export function renderNamed(userId: string, people: People): VNode {
  const name = people.nameOf(userId)
  return html`<span class="person"><span aria-hidden="true">${renderPerson(userId, name)}</span><bdi>${name}</bdi></span>`
}
