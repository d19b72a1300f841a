import type { VNode } from 'preact'
import { choiceOf, chooseMails, endMails, isEndLink, kindsOfLink, readMailChoices } from '../../mail/mail-choices.ts'
import { wordOf } from '../../mail/notice-mail-text.ts'
import { mailChoices, type MailChoice, type NoticeMails } from '../../model/notice-mail.ts'
import { noticeKinds, type NoticeKind } from '../../model/notice-kind.ts'
import { kindsOfNotices } from '../../resources/notices/kinds.ts'
import { errorPage } from '../error-pages.ts'
import { formActions, formPage, postForm } from '../form-page.ts'
import { html, renderMessage } from '../html.ts'
import type { Page, PageContext, PageView } from '../page-context.ts'
import { tellingAddress, toldBy } from '../told.ts'

const PATH = '/settings/account/mails'
const choiceWords: Readonly<Record<MailChoice, string>> = { at_once: 'At once', daily: 'Once a day', never: 'Never' }

/** Which notices a person gets mails about, and when. All of them are in the inbox. */
export const mailsPage: Page = {
  path: PATH,
  async get(context) {
    const found = await readMailChoices(context.web, context.session.user_id)
    return formPage(context, {
      title: 'Mails about notices',
      above: html`
        ${toldBy(context).has('chosen') && renderMessage('done', 'Your choices are saved.')}
        ${context.web.mail === undefined && renderMessage('warning', 'This service sends no mail. Your choices count as soon as it does.')}
        <p>Everything is in your <a href="/app/notices">inbox</a>. What you have read there within a minute or two is not mailed.</p>
      `,
      fields: noticeKinds.map((kind) => renderKind(kind, found?.mails)),
      button: 'Save',
      cancel: '/settings/account',
    })
  },
  async post(context) {
    const { form, web, session } = context
    const chosen = noticeKinds.flatMap((kind) => mailChoices.filter((one) => one === form.get(kind)).map((one) => [kind, one] as const))
    await chooseMails(web, session.user_id, Object.fromEntries(chosen))
    return { redirect: tellingAddress(context, PATH, { chosen: '' }) }
  },
}

function renderKind(kind: NoticeKind, mails: NoticeMails | undefined): VNode {
  const chosen = choiceOf(mails, kind)
  return html`<div class="field">
    <label for="mail-${kind}">${kindsOfNotices[kind].when}</label>
    <select id="mail-${kind}" name=${kind}>
      ${mailChoices.map((one) => html`<option value=${one} selected=${one === chosen}>${choiceWords[one]}</option>`)}
    </select>
  </div>`
}

/**
 * The link in a mail that ends mails of its kinds, without signing in (RFC 8058). To open it changes nothing: programs open links. The link is
 * signed with a key of the person's account, so its form needs no token.
 */
export const endMailsPage: Page = {
  path: '/settings/mails/end',
  anonymous: true,
  isSigned: true,
  async get(context) {
    if (!(await isEndLink(context.web, context.query))) return refused()
    const fields = formActions('End these mails', {})
    const body = html`<h1>End mails about notices?</h1>
      <p>You get no mail of this kind any more: ${wordsOf(context)}. Your inbox has everything.</p>
      ${postForm({ action: `${context.path}?${context.query}`, token: '', fields })}`
    return { title: 'End mails', body }
  },
  async post(context) {
    if (!(await endMails(context.web, context.query))) return refused()
    const body = html`<h1>These mails have ended</h1>
      <p>You get no mail of this kind any more: ${wordsOf(context)}. <a href=${PATH}>All choices</a> are on your account page.</p>`
    return { title: 'Mails ended', body }
  },
}

function wordsOf({ query }: PageContext): string {
  return kindsOfLink(query).map(wordOf).join(', ')
}

function refused(): PageView {
  return errorPage(
    404,
    'This link does not work',
    'It is not complete, or the account does not exist any more. Sign in, and choose your mails there.',
  )
}
