import { z } from 'zod'
import { GRAY } from './colors.ts'
import { type ForeignBoard, type ForeignPerson, inTimeOrder, type ReaderOptions } from './foreign-board.ts'
import { foreignTime, optionalText, past, readFileOf, readJson, uniqueById } from './input.ts'
import type { ImportReport } from './report.ts'

/** The address of an issue, on any host: `OWNER/REPOSITORY/issues/NUMBER` identifies it. */
const ISSUE_ADDRESS = /https?:\/\/[^\s/()<>[\]"]{1,200}\/([\w.-]{1,100}\/[\w.-]{1,100}\/(?:issues|pull)\/\d{1,9})(?:#[\w-]{0,100})?/
const [OPEN, CLOSED] = ['Open', 'Closed'] as const

const account = z.object({ login: z.string().min(1), name: optionalText })
const issue = z.object({
  number: z.int(),
  title: z.string(),
  body: optionalText,
  state: optionalText,
  stateReason: optionalText,
  url: z.string().min(1),
  labels: z.array(z.object({ name: z.string().min(1), color: optionalText })).default([]),
  assignees: z.array(account).default([]),
  author: account.nullish(),
  comments: z.array(z.object({ author: account.nullish(), body: z.string(), createdAt: foreignTime })).default([]),
  milestone: z.object({ title: optionalText, dueOn: foreignTime }).nullish(),
  createdAt: foreignTime,
  updatedAt: foreignTime,
  closedAt: foreignTime,
  projectItems: z.array(z.unknown()).default([]),
})
const file = z.object({ issues: z.array(issue) })
type Issue = z.infer<typeof issue>
const kind = { name: 'a list of issues, as gh issue list --json number,title,url,… writes it', schema: file, essential: ['issues'] }

/**
 * Reads the issues that `gh issue list --json …` has written. Open ones and closed ones have a column each.
 * @throws {AdminError} `invalid`, with the paths of the mistakes in the file, if it is no list of issues
 */
export function readGitHub(text: string, report: ImportReport, { now }: ReaderOptions): ForeignBoard {
  const { issues } = readFileOf(kind, { issues: readJson(text) }, report)
  const unique = uniqueById(
    'issues',
    issues.map((one) => ({ ...one, id: one.url })),
    report,
  )
  const repository = /^https?:\/\/[^/]+\/([^/]+\/[^/]+)\//.exec(unique[0]?.url ?? '')?.[1]
  return {
    name: repository ?? 'Issues',
    description: '',
    // The file does not say who has access.
    isPrivate: true,
    people: peopleOf(unique),
    labels: labelsOf(unique),
    columns: [OPEN, CLOSED].map((name) => ({ id: name, name, archived: false, completes: name === CLOSED, wipLimit: null })),
    cards: unique.map((one) => {
      const isClosed = one.state?.toLowerCase() === 'closed'
      report.add('project_items', one.title, one.projectItems.length)
      return {
        id: one.url,
        column: isClosed ? CLOSED : OPEN,
        title: one.title,
        description: one.body ?? '',
        fields: one.milestone?.title ? [{ name: 'Milestone', value: one.milestone.title }] : [],
        ref: one.url,
        linkKey: ISSUE_ADDRESS.exec(one.url)?.[1] ?? null,
        dueAt: one.milestone?.dueOn ?? null,
        completed: isClosed,
        failed: isClosed && /^not_?planned$|^duplicate$/i.test(one.stateReason ?? ''),
        completedAt: isClosed ? past(one.closedAt, now) : null,
        archived: false,
        archivedAt: null,
        createdAt: past(one.createdAt, now),
        createdBy: one.author?.login ?? null,
        updatedAt: past(one.updatedAt, now),
        labels: one.labels.map(({ name }) => name),
        assignees: one.assignees.map(({ login }) => login),
        subtasks: [],
        attachments: [],
        comments: inTimeOrder(
          one.comments.map(({ author, body, createdAt }) => ({
            author: author?.login ?? null,
            text: body,
            writtenAt: past(createdAt, now),
          })),
        ),
      }
    }),
    cardAddress: ISSUE_ADDRESS.source,
  }
}

/** Assignees, authors, and those who have commented. */
function peopleOf(issues: readonly Issue[]): ForeignPerson[] {
  const accounts = issues.flatMap(({ assignees, author, comments }) => [...assignees, author, ...comments.map((comment) => comment.author)])
  const people = new Map<string, ForeignPerson>()
  for (const found of accounts) {
    // Some parts of the file have only the login.
    if (!found || (people.has(found.login) && !found.name)) continue
    people.set(found.login, { id: found.login, name: found.name || found.login, username: found.login, onBoard: false })
  }
  return [...people.values()]
}

function labelsOf(issues: readonly Issue[]): ForeignBoard['labels'] {
  const labels = new Map<string, ForeignBoard['labels'][number]>()
  for (const { name, color } of issues.flatMap((one) => one.labels))
    labels.set(name, { id: name, name, color: /^[0-9a-f]{6}$/i.test(color ?? '') ? `#${color!.toLowerCase()}` : GRAY })
  return [...labels.values()]
}
