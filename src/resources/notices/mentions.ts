import { limits } from '../../model/limits.ts'

/** The id of a user with an @ in front, which is no part of a word or an address. */
const MENTION = /(?<![\w@.])@(usr_[0-9a-hjkmnp-tv-z]{20})(?!\w)/g

/** The users that a text mentions: so many at most. Whether there are such users is not known here. */
export function mentionsIn(text: string): readonly string[] {
  // Most texts have none.
  if (!text.includes('@usr_')) return []
  const found = new Set<string>()
  for (const [, userId] of text.matchAll(MENTION)) {
    found.add(userId!)
    if (found.size === limits.mentionsPerText) break
  }
  return [...found]
}

/** A text with names in the place of the ids that it mentions; an id without a name stays. */
export function withNames(text: string, nameOf: (userId: string) => string | undefined): string {
  return text.replace(MENTION, (mention, userId: string) => {
    const name = nameOf(userId)
    return name === undefined ? mention : `@${name}`
  })
}
