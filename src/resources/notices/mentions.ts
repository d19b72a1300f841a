import { lazy } from '../../model/lazy.ts'
import { limits } from '../../model/limits.ts'

// Few texts mention somebody, so the parser is no part of a start.
const markdownModule = lazy(() => import('../../model/markdown.ts'))

/** The id of a user with an @ in front, which is no part of a word or an e-mail address. */
const MENTION = /(?<![\w@.])@(usr_[0-9a-hjkmnp-tv-z]{20})(?!\w)/g

/** The name of a user; undefined: whoever reads the text knows none. */
export type NameOf = (userId: string) => string | undefined

/** Words, and the ids of the users that they mention, in turns: it begins and ends with words. The words must have no code. */
export function splitAtMentions(words: string): readonly string[] {
  // Most texts have none.
  return words.includes('@usr_') ? words.split(MENTION) : [words]
}

async function mentionsOf(text: string): Promise<ReadonlySet<string>> {
  const { createReader, wordsOf } = await markdownModule()
  return new Set(
    Array.from(wordsOf(createReader()(text) ?? []), (words) => splitAtMentions(words).filter((_part, i) => i % 2 === 1)).flat(),
  )
}

/** The users that a text mentions: so many at most. Whether there are such users is not known here. */
export async function mentionsIn(text: string): Promise<readonly string[]> {
  return text.includes('@usr_') ? [...(await mentionsOf(text))].slice(0, limits.mentionsPerText) : []
}

/** A text with names in the place of the ids that it mentions; an id without a name stays. */
export async function withNames(text: string, nameOf: NameOf): Promise<string> {
  if (!text.includes('@usr_')) return text
  // Which ids are mentions is known by their places: with a number in the place of each, the text is read in the same way.
  let count = 0
  const numbered = text.replace(MENTION, () => `@${numberedId(count++)}`)
  const mentioned = await mentionsOf(numbered)
  count = 0
  return text.replace(MENTION, (mention: string, userId: string) => {
    const name = mentioned.has(numberedId(count++)) ? nameOf(userId) : undefined
    return name === undefined ? mention : `@${name}`
  })
}

const numberedId = (place: number): string => `usr_${String(place).padStart(20, '0')}`
