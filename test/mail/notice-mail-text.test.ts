import { expect, test } from 'vitest'
import { mailOf } from '../../src/mail/notice-mail-text.ts'
import type { NoticeKind } from '../../src/model/notice-kind.ts'

const [CARD, BOARD] = ['crd_11111111111111111111', 'brd_11111111111111111111']
const place = {
  url: 'https://kanban.example',
  workspaceId: 'wsp_11111111111111111111',
  user_id: 'usr_11111111111111111111',
  mails: { key: 'k'.repeat(43), choices: {} },
}
const nobody = { comment_id: null, actor_id: null, token_name: null }
const notice = (kind: NoticeKind, text: string, board_id: string | null, card_id: string | null) => ({
  id: 'ntc_00000000000000000001',
  at: '2026-11-20T12:00:00.000Z',
  read_at: null,
  ...nobody,
  kind,
  text,
  board_id,
  card_id,
})
const head = (title: string) =>
  `<head><meta charset="utf-8"/><meta name="viewport" content="width=device-width"/><meta name="color-scheme" content="light dark"/><title>${title}</title></head>`
const STYLE = 'margin:0;padding:16px;font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere;color:CanvasText;background:Canvas'
const linkIn = (headers: object) => Object.values(headers)[0]!.slice(1, -1) as string

test('a mail about one notice is its sentence, the link to its card, and how such mails end', () => {
  const { subject, text, html, headers } = mailOf({ ...place, is_daily: false }, [notice('card_stuck', '"A < B" is stuck.', BOARD, CARD)])
  const [card, end] = [`https://kanban.example/app/${place.workspaceId}/cards/${CARD}`, linkIn(headers!)]
  expect(subject).toBe('"A < B" is stuck.')
  expect(text).toBe(
    `"A < B" is stuck.\n${card}\n\n--\nYou get this mail because of your choices.\nEnd mails of this kind (card stuck):\n${end}\nAll choices:\nhttps://kanban.example/settings/account/mails\n`,
  )
  expect(html).toBe(
    `<!doctype html><html lang="en">${head('&quot;A &lt; B&quot; is stuck.')}<body style="${STYLE}"><main style="max-width:36em;margin:0 auto">` +
      `<p>&quot;A &lt; B&quot; is stuck.<br/><a href="${card}">Open the card</a></p><hr/>` +
      `<p style="font-size:14px">You get this mail because of your choices. <a href="${end.replaceAll('&', '&amp;')}">End mails of this kind (card stuck)</a> · ` +
      `<a href="https://kanban.example/settings/account/mails">All choices</a></p></main></body></html>`,
  )
  expect(headers).toEqual({ 'List-Unsubscribe': `<${end}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' })
})

test('a mail of a day has all its notices, each with the page where it is seen', () => {
  const notices = [
    notice('webhook_disabled', 'Your webhook was disabled.', BOARD, null),
    notice('token_ending', 'Your token ends.', null, null),
    notice('due', 'It is due.', BOARD, CARD),
  ]
  const { subject, text, html, headers } = mailOf({ ...place, is_daily: true }, notices)
  const app = `https://kanban.example/app/${place.workspaceId}`
  expect(subject).toBe('Your notices of the day: 3')
  expect(text.split('\n--\n')[0]).toBe(
    [
      ['Your webhook was disabled.', `${app}/boards/${BOARD}/webhooks`, ''],
      ['Your token ends.', 'https://kanban.example/settings/tokens', ''],
      ['It is due.', `${app}/cards/${CARD}`, ''],
    ]
      .flat()
      .join('\n'),
  )
  expect(text).toContain('\nEnd mails of these kinds (due, token ending, webhook disabled):\n')
  for (const name of ['Open the webhooks', 'Open your tokens', 'Open the card']) expect(html).toContain(`>${name}</a>`)
  expect(new URL(linkIn(headers!)).searchParams.get('kinds')).toBe('due,token_ending,webhook_disabled')
})

test('a mail about several notices of a card counts them, and its subject has a limit', () => {
  const several = [notice('assigned', 'First.', BOARD, CARD), notice('commented', 'x'.repeat(300), BOARD, CARD)]
  expect(mailOf({ ...place, is_daily: false }, several).subject).toBe(`2 notices: ${'x'.repeat(108)}…`)
})
