import { describe, expect, test } from 'vitest'
import { kindsOfNotices } from '../../src/resources/notices/kinds.ts'
import { noticeKinds, type NoticeKind } from '../../src/model/notice-kind.ts'
import { membershipOf } from '../../src/model/workspace.ts'
import { appendedEntry } from '../../src/store/appended.ts'
import { keys } from '../../src/store/keys.ts'
import { readText } from '../lint/syntax.ts'
import { TestBoard } from '../support/board.ts'
import { handWrittenCells, handWrittenOperations } from '../support/hand-written-decisions.ts'
import { webhookOf } from '../support/records.ts'
import { Service } from '../support/service.ts'

test('the documentation says when a notice of each kind comes, and when it is mailed', () => {
  const page = readText('src/http/notices.md')
  const when = [...page.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, kind, text]) => [kind, text])
  expect(when).toEqual([['kind', 'when'], ...noticeKinds.map((kind) => [kind, kindsOfNotices[kind].when])])
  const mailed = (choice: string) => [...new RegExp(`^\\| ${choice}.* \\| (.*) \\|$`, 'm').exec(page)![1]!.matchAll(/\w+/g)].map(String)
  expect({ at_once: mailed('at once'), daily: mailed('once a day') }).toEqual({
    at_once: noticeKinds.filter((kind) => kindsOfNotices[kind].mail === 'at_once'),
    daily: noticeKinds.filter((kind) => kindsOfNotices[kind].mail === 'daily'),
  })
})

/** The operation that reads what a notice of a kind is about. Its hand-written decision says who sees the notice. */
const READ_BY: Readonly<Record<NoticeKind, string>> = {
  assigned: 'cards.read',
  mentioned: 'cards.read',
  card_stuck: 'cards.read',
  question: 'cards.read',
  answered: 'cards.read',
  commented: 'cards.read',
  due: 'cards.read',
  token_ending: 'notices.list',
  webhook_disabled: 'webhooks.read',
}
const ROLES = ['owner', 'admin', 'member'] as const
const BOARDS = ['workspace', 'private'].flatMap((visibility) =>
  ['creator', 'member', 'none'].map((caller) => [visibility, caller] as const),
)

/** What the hand-written decisions say of a person and a board, if the webhook is theirs. */
function isShown(kind: NoticeKind, role: string, visibility: string, caller: string): boolean {
  const operation = handWrittenOperations.find(({ id }) => id === READ_BY[kind])!
  const stated = {
    'caller.membership': 'active',
    'caller.role': role,
    'board.visibility': visibility,
    'board.caller': caller,
    'webhook.creator': 'caller',
  }
  const cells = handWrittenCells(operation).filter(({ facts }) =>
    Object.entries(facts).every(([name, value]) => (stated as Record<string, string>)[name] === value),
  )
  expect(cells.length).toBe(1)
  return cells[0]!.response === 'ok'
}

describe('GET /notices shows each kind to whom the hand-written decisions allow to read what it is about', async () => {
  const service = await Service.forSuite()

  test('there is a decision for each kind', () => {
    expect(Object.keys(kindsOfNotices)).toEqual([...noticeKinds])
    for (const kind of noticeKinds)
      expect(handWrittenOperations.find(({ id }) => id === READ_BY[kind])?.permission).toBe(kindsOfNotices[kind].shownBy)
  })

  test.each(ROLES.flatMap((role) => BOARDS.map(([visibility, caller]) => ({ role, visibility, caller }))))(
    'to the $caller of a $visibility board, who is $role',
    async ({ role, visibility, caller }) => {
      const workspaceId = await service.workspace()
      const [person, other] = [await service.person(workspaceId, role), await service.person(workspaceId, 'owner', 'Other')]
      const board = await TestBoard.create(service, caller === 'creator' ? person : other)
      const card = await board.card(await board.column())
      const comment = await board.comment(card)
      if (caller === 'member') await board.add(person)
      if (visibility === 'private') await board.makePrivate()
      const webhook = webhookOf({ id: 'whk_11111111111111111111', board_id: board.id, creator_id: person.id })
      await service.write(workspaceId, async (tx) => {
        await tx.create(keys.webhook(webhook.id), webhook)
        const membership = membershipOf((await tx.get(keys.membership(person.id)))!)
        const base = {
          at: board.now,
          read_at: null,
          ...membership,
          actor_id: other.id,
          token_name: null,
        }
        for (const [i, kind] of noticeKinds.entries()) {
          const onBoard = { board_id: board.id, card_id: card, comment_id: comment }
          const nothing = { board_id: null, card_id: null, comment_id: null }
          const about =
            kind === 'token_ending'
              ? { ...nothing, until: board.now, token_name: 'test' }
              : kind === 'webhook_disabled'
                ? { ...nothing, board_id: board.id, webhook_id: webhook.id }
                : { ...onBoard, comment_id: ['mentioned', 'question', 'answered', 'commented'].includes(kind) ? comment : null }
          await tx.create(keys.notice(person.id, appendedEntry(i + 1)), { kind, ...base, ...about })
        }
      })
      const { body } = await service.send(person.read, 'GET', '/notices?limit=100')
      const shown = new Set(body.data.slice(-noticeKinds.length).map(({ kind }: { kind: string }) => kind))
      expect(noticeKinds.filter((kind) => shown.has(kind))).toEqual(noticeKinds.filter((kind) => isShown(kind, role, visibility, caller)))
    },
  )
})
