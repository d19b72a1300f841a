import { authenticatorCodePage, authenticatorPage, recoveryCodesPage, removeAuthenticatorPage } from './account/authenticator.ts'
import { passkeyChallengePage, passkeyProofPage, signInChallengePage } from './account/challenges.ts'
import { alertsPage } from './alerts.ts'
import { endMailsPage, mailsPage } from './account/mails.ts'
import { accountPage } from './account/overview.ts'
import { newPasskeyPage, passkeyPage } from './account/passkeys.ts'
import { passwordPage } from './account/password.ts'
import { revokeTokensPage } from './tokens/revoke-all.ts'
import { providerCallbackPage, providerPage, providerProofPage, providerSignedOutPage, providerSignOutPage } from './account/provider.ts'
import { secondStepPage } from './account/second-step.ts'
import { sessionsPage } from './account/sessions.ts'
import { signInPage, signInWithPasskeyPage, signOutPage } from './account/sign-in.ts'
import { signUpPage } from './account/sign-up.ts'
import { activityPage } from './activity/page.ts'
import { agentsPage } from './agents/page.ts'
import { cardChoicesPage } from './boards/card-choices.ts'
import { attachmentPage, picturePage, previewPage } from './boards/attachment-pages.ts'
import { cardPage } from './boards/card-page.ts'
import { boardArchivePage, boardLabelsPage, boardMembersPage } from './boards/board-lists.ts'
import { boardPage } from './boards/board-page.ts'
import { changesPage, eventsPage } from './boards/live.ts'
import { findPage } from './boards/find-page.ts'
import { editingPage } from './boards/editing.ts'
import { peoplePage } from './boards/people-page.ts'
import { boardsPage } from './boards/overview-page.ts'
import { starPage } from './boards/stars.ts'
import { importPage } from './import/page.ts'
import { inboxesPage, inboxPage, unreadPage } from './notices/page.ts'
import { operationPage } from './operations/page.ts'
import { cardsPage } from './boards/search-page.ts'
import { frontDoor } from './front-door.ts'
import { confirmPage } from './tokens/confirm.ts'
import { tokensPage } from './tokens/list.ts'
import { newTokenPage } from './tokens/new.ts'
import { revokePage } from './tokens/revoke.ts'
import { rotatePage } from './tokens/rotate.ts'
import { workspaceAuditPage } from './workspace/audit.ts'
import { invitePage } from './workspace/invite.ts'
import { endMembershipPage, memberLinkPage, memberRolePage } from './workspace/member-forms.ts'
import { membersPage } from './workspace/members-page.ts'
import { welcomePage } from './workspace/welcome.ts'
import { workspacePage, workspacesPage } from './workspace/page.ts'
import { revokeMemberTokenPage } from './workspace/revoke.ts'
import { boardWebhooksPage, webhookPage } from './webhooks/pages.ts'
import type { Page } from './page-context.ts'

const settingsPage: Page = { path: '/settings', anonymous: true, get: () => ({ redirect: '/settings/tokens' }) }

/** The pages that do not exist where people have no passwords: nothing suggests one. */
export const pagesOfPasswords: ReadonlySet<Page> = new Set([
  secondStepPage,
  signInChallengePage,
  signInWithPasskeyPage,
  passwordPage,
  authenticatorPage,
  authenticatorCodePage,
  removeAuthenticatorPage,
  recoveryCodesPage,
  newPasskeyPage,
  passkeyChallengePage,
  passkeyProofPage,
  passkeyPage,
])

/** All pages of the web app. */
export const pages: readonly Page[] = [
  frontDoor,
  settingsPage,
  boardsPage,
  importPage,
  starPage,
  inboxesPage,
  inboxPage,
  unreadPage,
  boardPage,
  cardsPage,
  agentsPage,
  cardPage,
  cardChoicesPage,
  attachmentPage,
  picturePage,
  previewPage,
  eventsPage,
  changesPage,
  peoplePage,
  findPage,
  editingPage,
  operationPage,
  boardMembersPage,
  boardLabelsPage,
  boardArchivePage,
  boardWebhooksPage,
  webhookPage,
  signInPage,
  providerPage,
  providerProofPage,
  providerCallbackPage,
  providerSignOutPage,
  providerSignedOutPage,
  ...pagesOfPasswords,
  signOutPage,
  signUpPage,
  accountPage,
  alertsPage,
  mailsPage,
  endMailsPage,
  sessionsPage,
  revokeTokensPage,
  tokensPage,
  newTokenPage,
  confirmPage,
  rotatePage,
  revokePage,
  activityPage,
  workspacesPage,
  workspacePage,
  revokeMemberTokenPage,
  workspaceAuditPage,
  membersPage,
  welcomePage,
  invitePage,
  memberRolePage,
  endMembershipPage,
  memberLinkPage,
]
