import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { mailedKinds, type MailedKind, type NoticeMails } from '../model/notice-mail.ts'
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
  const kinds = mailedKinds.filter((kind) => notices.some((one) => one.kind === kind))
  const end = endAddress(url, user_id, mails, kinds)
  const lines = notices.map(({ text, card_id, board_id }) => ({ text, link: `${url}${pathOf(workspaceId, card_id, board_id)}` }))
  const settings = `${url}/settings/account/mails`
  const last = notices.at(-1)!.text
  const subject = is_daily
    ? `Your notices of the day: ${notices.length}`
    : notices.length === 1
      ? last
      : `${notices.length} notices: ${last}`
  const footer = `You get this mail because of your choices. End mails of this kind (${kinds.map(wordOf).join(', ')}):`
  return {
    subject: beginningOf(subject, SUBJECT),
    text: [...lines.flatMap(({ text, link }) => [text, link, '']), '--', footer, end, 'All choices:', settings, ''].join('\n'),
    html: `<!doctype html>${renderToString(
      h('html', { lang: 'en' }, [
        h('body', {}, [
          h(
            'ul',
            {},
            lines.map(({ text, link }) => h('li', {}, h('a', { href: link }, text))),
          ),
          h('p', {}, [footer, ' ', h('a', { href: end }, 'end them'), ' · ', h('a', { href: settings }, 'all choices')]),
        ]),
      ]),
    )}`,
    headers: { 'List-Unsubscribe': `<${end}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
  }
}

function pathOf(workspaceId: string, cardId: string | null, boardId: string | null): string {
  if (cardId !== null) return `/app/${workspaceId}/cards/${cardId}`
  return boardId === null ? '/settings/tokens' : `/app/${workspaceId}/boards/${boardId}`
}

/** A kind in words, such as `card stuck`. */
export function wordOf(kind: MailedKind): string {
  return kind.replaceAll('_', ' ')
}
