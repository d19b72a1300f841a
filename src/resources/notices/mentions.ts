import { limits } from '../../model/limits.ts'
import { withoutCode } from '../../model/markup.ts'

/** The id of a user with an @ in front, which is no part of a word or an e-mail address. */
const MENTION = /(?<![\w@.])@(usr_[0-9a-hjkmnp-tv-z]{20})(?!\w)/g

/** The name of a user; undefined: whoever reads the text knows none. */
export type NameOf = (userId: string) => string | undefined

/** A text, and the ids of the users that it mentions, in turns: it begins and ends with text. The text must have no code. */
export function splitAtMentions(text: string): readonly string[] {
  // Most texts have none.
  return text.includes('@usr_') ? text.split(MENTION) : [text]
}

function mentionsOf(text: string): Iterable<RegExpExecArray> {
  return text.includes('@usr_') ? withoutCode(text).matchAll(MENTION) : []
}

/** The users that a text mentions: so many at most. Whether there are such users is not known here. */
export function mentionsIn(text: string): readonly string[] {
  const found = new Set<string>()
  for (const [, userId] of mentionsOf(text)) {
    found.add(userId!)
    if (found.size === limits.mentionsPerText) break
  }
  return [...found]
}

/** A text with names in the place of the ids that it mentions; an id without a name stays. */
export function withNames(text: string, nameOf: NameOf): string {
  let [named, end] = ['', 0]
  for (const { index, 0: mention, 1: userId } of mentionsOf(text)) {
    const name = nameOf(userId!)
    if (name === undefined) continue
    named += `${text.slice(end, index)}@${name}`
    end = index + mention.length
  }
  return named + text.slice(end)
}
