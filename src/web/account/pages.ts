import type { Page } from '../page-context.ts'
import { authenticatorCodePage, authenticatorPage, removeAuthenticatorPage } from './authenticator.ts'
import { noticesPage } from './notices.ts'
import { accountPage } from './overview.ts'
import { passkeyProofPage } from './passkey-proof.ts'
import { newPasskeyPage, passkeyChallengePage, passkeyPage } from './passkeys.ts'
import { passwordPage } from './password.ts'
import { recoveryCodesPage } from './recovery-codes.ts'
import { revokeTokensPage } from './revoke-tokens.ts'
import { secondStepPage, signInChallengePage } from './second-step.ts'
import { sessionsPage } from './sessions.ts'
import { signInPage, signInWithPasskeyPage, signOutPage } from './sign-in.ts'
import { signUpPage } from './sign-up.ts'

/** The pages of a person's account, and those that lead to it. */
export const accountPages: readonly Page[] = [
  signInPage,
  secondStepPage,
  signInChallengePage,
  signInWithPasskeyPage,
  signOutPage,
  signUpPage,
  accountPage,
  noticesPage,
  passwordPage,
  sessionsPage,
  revokeTokensPage,
  authenticatorPage,
  authenticatorCodePage,
  removeAuthenticatorPage,
  recoveryCodesPage,
  newPasskeyPage,
  passkeyChallengePage,
  passkeyProofPage,
  passkeyPage,
]
