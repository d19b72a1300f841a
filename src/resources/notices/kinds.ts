import type { NoticeKind } from '../../model/notice-kind.ts'
import type { MailChoice } from '../../model/notice-mail.ts'

/** What the sentence of a notice is made of, as it is now. What a kind does not need is empty. */
export interface NoticeWords {
  /** who has caused it, such as `Ann` or `agent-03 of Ann` */
  readonly actor: string
  /** the title of the card in quotation marks */
  readonly card: string
  readonly board: string
  /** the beginning of the comment, after a colon */
  readonly said: string
  /** when the card is due, or the token ends */
  readonly until: string
  readonly token: string
  /** the host of the webhook */
  readonly host: string
}

interface KindRow {
  /** who gets it, and when, for its person */
  readonly when: string
  /** when it is mailed, unless its person chooses */
  readonly mail: MailChoice
  /** what decides whether its person may see it, about its board */
  readonly shownBy: 'read Card' | 'read Webhook' | 'read Notice'
  readonly sentence: (words: NoticeWords) => string
}

/**
 * The kinds of notices. "Your cards" are those that you are assigned to. A card without assignees is its creator's, and its board's
 * creator's if that person cannot read the board any more: so each question reaches somebody.
 */
export const kindsOfNotices: Readonly<Record<NoticeKind, KindRow>> = {
  assigned: {
    when: 'You are assigned to a card.',
    mail: 'at_once',
    shownBy: 'read Card',
    sentence: ({ actor, card }) => `${actor} assigned you to ${card}.`,
  },
  mentioned: {
    when: 'You are mentioned.',
    mail: 'at_once',
    shownBy: 'read Card',
    sentence: ({ actor, card, said }) => `${actor} mentioned you on ${card}${said || '.'}`,
  },
  card_stuck: {
    when: 'One of your cards is stuck: as many attempts have failed as its column allows.',
    mail: 'at_once',
    shownBy: 'read Card',
    sentence: ({ card }) => `${card} is stuck: its last attempt has failed.`,
  },
  question: {
    when: 'An agent asks a question on one of your cards.',
    mail: 'at_once',
    shownBy: 'read Card',
    sentence: ({ actor, card, said }) => `${actor} asks on ${card}${said}`,
  },
  answered: {
    when: 'A question of yours is answered.',
    mail: 'at_once',
    shownBy: 'read Card',
    sentence: ({ actor, card, said }) => `${actor} answered your question on ${card}${said}`,
  },
  commented: {
    when: 'A comment stands on a card that you are assigned to, or have commented on.',
    mail: 'daily',
    shownBy: 'read Card',
    sentence: ({ actor, card, said }) => `${actor} commented on ${card}${said}`,
  },
  due: {
    when: 'One of your cards is due within a day.',
    mail: 'daily',
    shownBy: 'read Card',
    sentence: ({ card, until }) => `${card} is due on ${until}.`,
  },
  token_ending: {
    when: 'A token of yours ends within 14 days, and again within 3.',
    mail: 'at_once',
    shownBy: 'read Notice',
    sentence: ({ token, until }) => `Your token "${token}" ends on ${until}.`,
  },
  webhook_disabled: {
    when: 'A webhook of yours is disabled.',
    mail: 'at_once',
    shownBy: 'read Webhook',
    sentence: ({ board, host }) => `Your webhook to ${host} on "${board}" was disabled. Its page says why.`,
  },
}
