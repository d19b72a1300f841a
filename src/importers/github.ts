import { z } from 'zod'
import { AdminError } from '../admin/deps.ts'
import { GRAY } from './colors.ts'
import { type ForeignBoard, type ForeignPerson, inTimeOrder } from './foreign-board.ts'
import { foreignTime, optionalText, readFileOf, readJson, uniqueById } from './input.ts'
import type { ImportReport } from './report.ts'

/** The address of an issue, on any host: `OWNER/REPOSITORY/issues/NUMBER` identifies it. */
const ISSUE_ADDRESS =
  /https?:\/\/[^\s/()<>[\]"]{1,200}\/([\w.-]{1,100}\/[\w.-]{1,100}\/(?:issues|pull)\/\d{1,9})(?:#[\w-]{0,100})?(?![\w/]|\?\w)/
const [OPEN, CLOSED] = ['Open', 'Closed'] as const

const account = z.object({ login: z.string().min(1), name: optionalText })
/** Null: the account was deleted. GitHub's programs write null, or a login without a character. */
const author = z
  .object({ login: optionalText, name: optionalText })
  .nullish()
  .transform((found) => (found?.login ? { login: found.login, name: found.name } : null))
// Loose: what has no place here is in the report.
const label = z.looseObject({ name: z.string().min(1), color: optionalText })
const comment = z.looseObject({ author, body: z.string(), createdAt: foreignTime })
const milestone = z.looseObject({ title: optionalText, dueOn: foreignTime })
const issue = z.looseObject({
  number: z.int(),
  title: z.string(),
  body: optionalText,
  state: optionalText,
  stateReason: optionalText,
  closed: z.boolean().nullish(),
  url: z.string().min(1),
  labels: z.array(label).default([]),
  assignees: z.array(account).default([]),
  author,
  comments: z.array(comment).default([]),
  milestone: milestone.nullish(),
  createdAt: foreignTime,
  updatedAt: foreignTime,
  closedAt: foreignTime,
  projectItems: z.array(z.unknown()).default([]),
})
const file = z.object({ issues: z.array(issue) })
type Issue = z.infer<typeof issue>
const kind = { name: 'a list of issues, as gh issue list --json number,title,url,… writes it', schema: file, essential: ['issues'] }
/** Members that are read, or that say nothing about the issue itself. */
const KNOWN = {
  label: new Set([...Object.keys(label.shape), 'id']),
  milestone: new Set([...Object.keys(milestone.shape), 'number']),
  issue: new Set([...Object.keys(issue.shape), 'id']),
  comment: new Set([
    ...Object.keys(comment.shape),
    'id',
    'url',
    'authorAssociation',
    'viewerDidAuthor',
    'includesCreatedEdit',
    'minimizedReason',
  ]),
}
/** The command that writes all that is read. */
const COMMAND =
  'gh issue list --state all --limit 5000 --json number,title,body,state,stateReason,url,labels,assignees,author,comments,milestone,createdAt,updatedAt,closedAt'

/**
 * Reads the issues that `gh issue list --json …` has written. Open ones and closed ones have a column each.
 * @throws {AdminError} `invalid`, with the paths of the mistakes in the file, if it is no list of issues
 */
export function readGitHub(text: string, report: ImportReport): ForeignBoard {
  const json = readJson(text)
  if (isOfRestApi(json)) throw new AdminError('invalid', `the file is a response of GitHub's REST API: write the issues with ${COMMAND}`)
  const { issues } = readFileOf(kind, { issues: json }, report)
  const unique = uniqueById(
    'issues',
    issues.map((one) => ({ ...one, id: one.url })),
    report,
  )
  reportDetails(unique, report)
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
      const isClosed = isClosedIn(one)
      report.add('project_items', one.title, one.projectItems.length)
      return {
        id: one.url,
        column: isClosed ? CLOSED : OPEN,
        title: one.title,
        description: one.body ?? undefined,
        fields: one.milestone?.title ? [{ name: 'Milestone', value: one.milestone.title }] : [],
        ref: one.url,
        linkKey: ISSUE_ADDRESS.exec(one.url)?.[1] ?? null,
        dueAt: one.milestone && (one.milestone.dueOn ?? null),
        completed: isClosed,
        failed: isClosed === true && /^not_?planned$|^duplicate$/i.test(one.stateReason ?? ''),
        completedAt: isClosed ? (one.closedAt ?? null) : null,
        archived: false,
        archivedAt: null,
        createdAt: one.createdAt ?? null,
        createdBy: one.author?.login ?? null,
        updatedAt: one.updatedAt ?? null,
        labels: one.labels.map(({ name }) => name),
        assignees: one.assignees.map(({ login }) => login),
        subtasks: [],
        attachments: [],
        comments: inTimeOrder(
          one.comments.map(({ author: writer, body, createdAt }) => ({
            author: writer?.login ?? null,
            text: body,
            writtenAt: createdAt ?? null,
          })),
        ),
      }
    }),
    cardAddress: ISSUE_ADDRESS.source,
  }
}

/** Whether an issue is closed; undefined: the file does not say it. */
function isClosedIn({ state, closed, closedAt }: Issue): boolean | undefined {
  if (state) return state.toLowerCase() === 'closed'
  return closed ?? (closedAt === undefined ? undefined : closedAt !== null)
}

/** In GitHub's REST API, a member has words with underscores. */
function isOfRestApi(json: unknown): boolean {
  return Array.isArray(json) && json.some((one: unknown) => typeof one === 'object' && one !== null && 'html_url' in one)
}

/** Reports the members that have no place here: of labels and milestones once, however many issues have them. */
function reportDetails(issues: readonly Issue[], report: ImportReport): void {
  const add = (where: string, what: keyof typeof KNOWN, found: Readonly<Record<string, unknown>>) => {
    for (const [name, value] of Object.entries(found))
      if (!KNOWN[what].has(name) && !isEmpty(value)) report.add('issue_details', `${where}: ${name}`)
  }
  const labels = new Map(issues.flatMap((one) => one.labels.map((found) => [found.name, found])))
  const milestones = new Map(issues.flatMap((one) => (one.milestone ? [[one.milestone.title, one.milestone]] : [])))
  for (const [name, found] of labels) add(`label ${name}`, 'label', found)
  for (const [title, found] of milestones) add(`milestone ${title}`, 'milestone', found)
  for (const one of issues) {
    add(one.title, 'issue', one)
    for (const found of one.comments) add(`comment on ${one.title}`, 'comment', found)
  }
}

/** Whether a value says nothing: none, or a count of nothing. */
function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return !value
  return Object.values(value).every((part) => !part)
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
