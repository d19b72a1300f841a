import { z } from 'zod'
import { pageQuery, wordsParameter } from '../listing/pages.ts'
import { documented } from '../model/fields.ts'

/** What each word of `?include=` adds, except for the lists of a board. */
const additions = {
  counts: '`counts`: how many objects belong to it; a resource then has no ETag.',
  claim: '`claim`: who holds it, and until when; a resource then has no ETag.',
  work: '`work`: what the work on it has come to; a resource then has no ETag.',
  etag: '`etag`: the ETag of each item, for If-Match.',
} as const

/** The parameter `include` with these words. */
export function includeParameter<const Word extends keyof typeof additions>(...words: Word[]) {
  const description = `Adds members. With \`fields\`, name them there, too. ${words.map((word) => additions[word]).join(' ')}`
  return { include: documented(wordsParameter(words).optional(), { description }) }
}

/** What the name of the schema of an item of a list begins with; the rest is the name of the schema that it extends. */
export const LISTED = 'Listed'

/** The schema of an item of a list whose items have ETags (src/http/README.md, "Concurrency"). */
export function listed<Item extends z.ZodObject>(item: Item) {
  const etag = documented(z.string(), {
    description: 'The ETag of the item: only with `include=etag`.',
    pattern: '^"[0-9A-Za-z.]+"$',
    maxLength: 100,
  })
  const { id, description = '' } = z.globalRegistry.get(item) ?? {}
  return documented(item.extend({ etag: etag.optional() }), { id: `${LISTED}${id}`, description: `As an item of a list. ${description}` })
}

/**
 * The query and the data of a list whose items have ETags.
 * @param filters further parameters
 */
export function itemList<Item extends z.ZodObject, Filters extends z.ZodRawShape = {}>(list: string, item: Item, filters = {} as Filters) {
  return { query: z.strictObject({ ...pageQuery(list), ...filters, ...includeParameter('etag') }), data: z.array(listed(item)) }
}
