import { z } from 'zod'
import { foreignId, foreignTime, optionalText, place } from './input.ts'

const present = z.unknown().optional()
/** A person of Trello. */
export const person = z.object({ id: foreignId, fullName: optionalText, username: optionalText })
const checkItem = z.object({
  name: z.string(),
  state: z.string(),
  pos: place,
  due: optionalText,
  idMember: optionalText,
})
const checklistShape = { id: foreignId, name: z.string(), pos: place, checkItems: z.array(checkItem).default([]) }
/** Exports before 2016 have labels without ids: at most one of each color. */
const ownLabel = z.object({ id: optionalText, name: optionalText, color: optionalText })
const attachment = z.object({
  id: optionalText,
  name: optionalText,
  fileName: optionalText,
  url: optionalText,
  isUpload: z.boolean().nullish(),
})
const card = z.object({
  id: foreignId,
  idList: foreignId,
  name: z.string(),
  desc: optionalText,
  closed: z.boolean(),
  pos: place,
  url: optionalText,
  shortUrl: optionalText,
  shortLink: optionalText,
  due: foreignTime,
  dueComplete: z.boolean().nullish(),
  dueReminder: z.number().nullish(),
  start: optionalText,
  dateLastActivity: foreignTime,
  dateCompleted: foreignTime,
  dateClosed: foreignTime,
  isTemplate: z.boolean().nullish(),
  cardRole: optionalText,
  mirrorSourceId: optionalText,
  recurrenceRule: present,
  idMemberCreator: optionalText,
  labels: z.array(ownLabel).default([]),
  idLabels: z.array(foreignId).default([]),
  idChecklists: z.array(z.string()).default([]),
  idMembers: z.array(foreignId).default([]),
  attachments: z.array(attachment).default([]),
  // In the response of the REST API.
  checklists: z.array(z.object(checklistShape)).default([]),
  badges: z
    .object({
      comments: z.number().nullish(),
      votes: z.number().nullish(),
      checkItems: z.number().nullish(),
      attachments: z.number().nullish(),
    })
    .nullish(),
  cover: z.object({ color: optionalText, idAttachment: optionalText, idUploadedBackground: optionalText }).nullish(),
  stickers: z.array(present).nullish(),
  customFieldItems: z
    .array(z.object({ idCustomField: optionalText, idValue: optionalText, value: z.record(z.string(), z.unknown()).nullish() }))
    .default([]),
  pluginData: z.array(present).nullish(),
  coordinates: present,
  address: present,
})
/** Only the type is read of other kinds of actions. */
const action = z.object({ type: z.string(), date: present, idMemberCreator: present, memberCreator: present, data: present })
const comment = z.object({
  date: foreignTime,
  idMemberCreator: foreignId.nullish(),
  memberCreator: person.nullish(),
  data: z.object({ text: z.string(), card: z.object({ id: foreignId }) }),
})
/** What has happened to a card. One that cannot be read says nothing. */
const event = z.object({
  type: z.string(),
  date: foreignTime,
  idMemberCreator: foreignId.nullish(),
  memberCreator: person.nullish(),
  data: z.object({
    card: z.object({ id: foreignId, dueComplete: z.boolean().nullish(), closed: z.boolean().nullish() }),
    old: z.object({ dueComplete: z.boolean().nullish(), closed: z.boolean().nullish() }).nullish(),
  }),
})
/** A comment of Trello, as its action. */
export type TrelloComment = z.infer<typeof comment>
/** Something that has happened to a card of Trello. */
export type TrelloEvent = z.infer<typeof event>

const actions = z
  .array(action)
  .default([])
  .transform((all, context) => {
    const comments: TrelloComment[] = []
    const events: TrelloEvent[] = []
    for (const [i, item] of all.entries()) {
      if (item.type !== 'commentCard' && item.type !== 'copyCommentCard') {
        const parsed = event.safeParse(item)
        if (parsed.success) events.push(parsed.data)
        continue
      }
      const parsed = comment.safeParse(item)
      if (parsed.success) comments.push(parsed.data)
      else
        for (const issue of parsed.error.issues)
          context.addIssue({ code: 'custom', message: issue.message, path: [i, ...issue.path], input: item })
    }
    return { comments, events }
  })

/** What is read of Trello's export of a board ("Export as JSON"), and of the response of its REST API. */
export const trelloBoard = z.object({
  name: z.string(),
  desc: optionalText,
  closed: z.boolean().nullish(),
  prefs: z.object({ permissionLevel: optionalText }).nullish(),
  lists: z.array(
    z.object({
      id: foreignId,
      name: z.string(),
      closed: z.boolean(),
      pos: place,
      softLimit: z.number().nullish(),
      color: optionalText,
    }),
  ),
  cards: z.array(card),
  labels: z.array(z.object({ id: foreignId, name: optionalText, color: optionalText })).default([]),
  pluginData: z.array(present).nullish(),
  // Before 2016: a name for each color.
  labelNames: z.record(z.string(), z.string().nullish()).nullish(),
  checklists: z.array(z.object({ ...checklistShape, idCard: foreignId })).default([]),
  members: z.array(person).default([]),
  customFields: z
    .array(
      z.object({
        id: foreignId,
        name: z.string(),
        options: z.array(z.object({ id: foreignId, value: z.object({ text: optionalText }).nullish() })).nullish(),
      }),
    )
    .default([]),
  actions,
})
export type TrelloBoard = z.infer<typeof trelloBoard>
export type TrelloCard = TrelloBoard['cards'][number]
