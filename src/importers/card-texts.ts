import { limits } from '../model/limits.ts'
import { hasAtMost } from '../model/text.ts'
import type { ForeignAttachment, ForeignCard, ForeignComment, ForeignPerson } from './foreign-board.ts'
import { nameOf, type MemberMatcher } from './members.ts'
import type { ImportReport, Loss } from './report.ts'
import type { TextFitter } from './text-fitter.ts'

/** The part of a description that links of attachments may take, and the part that values of fields may take. */
const [MAX_LINKS, MAX_FIELDS] = [10_000, 10_000]

/** Who takes part in an import. */
interface People {
  /** the user who imports, and is the author of everything */
  readonly userId: string
  readonly members: MemberMatcher
  /** the people of the file by id */
  readonly theirs: ReadonlyMap<string, ForeignPerson>
}
type Link = ForeignAttachment & { readonly url: string }

/** Makes the texts of cards: what has no place of its own here is in them. */
export class CardTexts {
  readonly #people: People
  readonly #fit: TextFitter
  readonly #report: ImportReport
  readonly #uploaded: ReadonlyMap<ForeignAttachment, unknown>

  /** @param uploaded the attachments whose files are uploaded: the description has no links to them */
  constructor(people: People, uploaded: ReadonlyMap<ForeignAttachment, unknown>, fit: TextFitter, report: ImportReport) {
    this.#people = people
    this.#fit = fit
    this.#report = report
    this.#uploaded = uploaded
  }

  /** The description, the values of fields, the links of the attachments, and the times. */
  description(card: ForeignCard): string {
    const { title, description = '', fields } = card
    const values = this.#list(fields, MAX_FIELDS, ({ name, value }) => `${name}: ${value}`.replace(/\s+/g, ' '), 'fields_left_out', title)
    const files = this.#list(this.#linksOf(card), MAX_LINKS, ({ name, url }) => linkTo(name, url), 'attachments_left_out', title)
    const parts = [values && `Fields:${values}`, files && `Attachments:${files}`, this.#historyOf(card)].filter((part) => part !== '')
    const rest = parts.join('\n\n')
    const separator = description === '' || rest === '' ? '' : '\n\n'
    const room = limits.cardDescription - separator.length - rest.length
    return this.#fit.prose(description, room, `description of ${title}`) + separator + rest
  }

  /** The texts of the comments of a card: all have the same author here. */
  comments({ title, comments }: ForeignCard): string[] {
    const written = comments.filter(({ text }) => /[^\s\p{Cc}\p{Cf}]/u.test(text))
    this.#report.add('comments_blank', title, comments.length - written.length)
    const excess = Math.max(written.length - limits.commentsPerCard, 0)
    this.#report.add('comments_left_out', title, excess)
    return written.slice(excess).map((comment) => {
      const body = `${this.#headingOf(comment)}\n\n${comment.text}`
      if (comment.author === null || this.#people.members.find(comment.author) !== this.#people.userId)
        this.#report.add('comments_by_others', body)
      return this.#fit.prose(body, limits.commentBody, `comment on ${title}: ${comment.text}`)
    })
  }

  /** The attachments that are not uploaded and have an address. */
  #linksOf({ title, attachments }: ForeignCard): Link[] {
    return attachments.flatMap((attachment) => {
      const { name, url } = attachment
      if (this.#uploaded.has(attachment)) return []
      if (url !== null) return { ...attachment, url }
      this.#report.add('attachments_without_link', `${title}: ${name}`)
      return []
    })
  }

  /** The items of a list in Markdown, up to a length. The others are reported. */
  #list<T extends { readonly name: string }>(
    items: readonly T[],
    most: number,
    render: (item: T) => string,
    loss: Loss,
    card: string,
  ): string {
    let list = ''
    for (const item of items) {
      const line = this.#fit.prose(`\n- ${render(item)}`, most + 1, `${card}: ${item.name}`)
      if (list.length + line.length <= most) list += line
      else this.#report.add(loss, `${card}: ${item.name}`)
    }
    return list
  }

  #headingOf({ author, writtenAt }: ForeignComment): string {
    return `${this.#nameOf(author)}${writtenAt === null ? '' : `, ${minuteOf(writtenAt)}`}:`
  }

  #nameOf(id: string | null): string {
    const person = id === null ? undefined : this.#people.theirs.get(id)
    const name = person === undefined ? 'an unknown person' : nameOf(person)
    return this.#fit.line(name, 2 * limits.displayName, `author: ${name}`, 'an unknown person')
  }

  /** The original times of a card, which has other times here. Nothing of it is known: no text. */
  #historyOf({ createdAt, createdBy, updatedAt, completedAt, archivedAt }: ForeignCard): string {
    const creator = createdBy !== null && this.#people.theirs.has(createdBy) ? ` by ${this.#nameOf(createdBy)}` : ''
    const created = createdAt === null ? creator : ` ${minuteOf(createdAt)}${creator}`
    const later = { completed: completedAt, archived: archivedAt, 'last changed': updatedAt }
    const known = Object.entries(later).flatMap(([what, time]) => (time === null ? [] : `${what} ${minuteOf(time)}`))
    const text = [...(created === '' ? [] : [`created${created}`]), ...known].join(', ')
    return text === '' ? '' : `${text[0]!.toUpperCase()}${text.slice(1)}.`
  }
}

/** A time to the minute. */
function minuteOf(time: string): string {
  return `${time.slice(0, 16).replace('T', ' ')} UTC`
}

/** A link in Markdown. */
function linkTo(name: string, url: string): string {
  const safeUrl = url
    .replace(/[\s<>\\]/g, encodeURIComponent)
    .replaceAll('(', '%28')
    .replaceAll(')', '%29')
  const safeName = hasAtMost(200, name) ? name : `${Array.from(name.slice(0, 400)).slice(0, 199).join('')}…`
  return `[${safeName.replace(/\s+/g, ' ').replace(/[\\[\]`<*]/g, '\\$&')}](${safeUrl})`
}
