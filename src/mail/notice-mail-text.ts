import { h, type ComponentChildren } from 'preact'
import { renderToString } from 'preact-render-to-string'
import type { NoticeMails } from '../model/notice-mail.ts'
import { noticeKinds, type NoticeKind } from '../model/notice-kind.ts'
import type { Notice } from '../model/notice.ts'
import { beginningOf } from '../model/text.ts'
import { endAddress } from './mail-choices.ts'
import type { Mail } from './mailer.ts'

/** Characters of a subject. */
const SUBJECT = 120

interface MailPlace {
  readonly url: string
  readonly workspaceId: string
  readonly user_id: string
  readonly mails: NoticeMails
  readonly is_daily: boolean
}

/**
 * A mail about notices of a person, oldest first: about one card, or of a day. Its plain text and its HTML have the same sentences
 * and links, and nothing secret but the links that end such mails.
 */
export function mailOf({ url, workspaceId, user_id, mails, is_daily }: MailPlace, notices: readonly Notice[]): Omit<Mail, 'to'> {
  const kinds = noticeKinds.filter((kind) => notices.some((one) => one.kind === kind))
  const end = endAddress(url, user_id, mails, kinds)
  const lines = notices.map((one) => {
    const { path, name } = placeOf(workspaceId, one)
    return { text: one.text, link: url + path, name }
  })
  const settings = `${url}/settings/account/mails`
  const last = notices.at(-1)!.text
  const full = is_daily ? `Your notices of the day: ${notices.length}` : notices.length === 1 ? last : `${notices.length} notices: ${last}`
  const subject = beginningOf(full, SUBJECT)
  const these = kinds.length === 1 ? 'this kind' : 'these kinds'
  const why = 'You get this mail because of your choices.'
  const [ending, all] = [`End mails of ${these} (${kinds.map(wordOf).join(', ')})`, 'All choices']
  const shown = [
    ...lines.map(({ text, link, name }) => h('p', {}, [text, h('br', {}), h('a', { href: link }, name)])),
    h('hr', {}),
    h('p', { style: 'font-size:14px' }, [why, ' ', h('a', { href: end }, ending), ' · ', h('a', { href: settings }, all)]),
  ]
  return {
    subject,
    text: [...lines.flatMap(({ text, link }) => [text, link, '']), '--', why, `${ending}:`, end, `${all}:`, settings, ''].join('\n'),
    html: pageOf(subject, shown),
    headers: { 'List-Unsubscribe': `<${end}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
  }
}

/** HTML that programs for mail show. It names no color, so it is light or dark as they are. */
function pageOf(title: string, shown: ComponentChildren): string {
  const head = [
    h('meta', { charset: 'utf-8' }),
    h('meta', { name: 'viewport', content: 'width=device-width' }),
    h('meta', { name: 'color-scheme', content: 'light dark' }),
    h('title', {}, title),
  ]
  const main = h('main', { style: 'max-width:36em;margin:0 auto' }, shown)
  const style = 'margin:0;padding:16px;font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere;color:CanvasText;background:Canvas'
  return `<!doctype html>${renderToString(h('html', { lang: 'en' }, [h('head', {}, head), h('body', { style }, main)]))}`
}

/** The page where a person sees what a notice is about, and what a link to it says. */
export function placeOf(workspaceId: string, { card_id, board_id }: Notice): { readonly path: string; readonly name: string } {
  if (card_id !== null) return { path: `/app/${workspaceId}/cards/${card_id}`, name: 'Open the card' }
  if (board_id === null) return { path: '/settings/tokens', name: 'Open your tokens' }
  return { path: `/app/${workspaceId}/boards/${board_id}/webhooks`, name: 'Open the webhooks' }
}

/** A kind in words, such as `card stuck`. */
export function wordOf(kind: NoticeKind): string {
  return kind.replaceAll('_', ' ')
}
