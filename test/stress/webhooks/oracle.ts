/** A delivery as a receiver has got it. */
export interface Post {
  /** the `webhook-id` */
  readonly id: string
  readonly isGenuine: boolean
  readonly data: { readonly after: string; readonly next: string; readonly entries: readonly any[] }
}

/** What a webhook was to deliver. */
export interface Expected {
  /** where it began */
  readonly begin: string
  /** null: all */
  readonly kinds: readonly string[] | null
  /** the feed of its board after that */
  readonly feed: readonly any[]
}

/** What is delivered of a change whatever happens later: its object may have changed, or been deleted. */
const lasting = ({ data: _data, ...entry }: any): string => JSON.stringify(entry)

/** The violations in what a receiver has got, repetitions included: nothing here knows how the place of a webhook is stored. */
export function violationsOf(posts: readonly Post[], { begin, kinds, feed }: Expected): string[] {
  const found: string[] = []
  const byId = new Map<string, Post>()
  let [next, last] = [begin, '']
  for (const [i, post] of posts.entries()) {
    const { id, isGenuine, data } = post
    if (!isGenuine) found.push(`${i}: the signature is not valid`)
    const before = byId.get(id)
    if (before === undefined) {
      if (data.after !== next) found.push(`${i}: it does not begin where the one before has ended`)
      byId.set(id, post)
      ;[next, last] = [data.next, id]
    } else {
      if (id !== last) found.push(`${i}: ${id} came again after another one`)
      const [one, other] = [before.data, data].map((sent) => [sent.after, sent.next, ...sent.entries.map(lasting)].join())
      if (one !== other) found.push(`${i}: ${id} came again with something else`)
    }
  }
  const got = [...byId.values()].flatMap(({ data }) => data.entries.map(lasting))
  const wanted = feed.filter(({ kind }) => kinds === null || kinds.includes(kind)).map(lasting)
  const at = wanted.findIndex((entry, i) => entry !== got[i])
  if (at !== -1) found.push(`entry ${at} of ${wanted.length} is ${got[at]} instead of ${wanted[at]}`)
  if (got.length > wanted.length) found.push(`there are ${got.length} entries instead of ${wanted.length}`)
  return found
}
