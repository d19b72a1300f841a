import type { VNode } from 'preact'
import type { IdentityProvider } from '../../auth/provider/identity-provider.ts'
import { html } from '../html.ts'

/** Where a sign-in at the provider begins. */
export const PROVIDER_PATH = '/sign-in/oidc'

/**
 * The button of the provider. It is a link: browsers forbid a form to be redirected to another site.
 * @param usesLink whether the sign-up link of this browser is used, whose person the page names
 */
export function providerButton({ name }: Pick<IdentityProvider, 'name'>, usesLink = false): VNode {
  return html`<p class="actions"><a class="button primary" href=${PROVIDER_PATH + (usesLink ? '?link' : '')}>Sign in with ${name}</a></p>`
}

/**
 * The same for a signed-in person who has to prove again who they are.
 * @param back the page that they come back to
 */
export function proofButton({ name }: Pick<IdentityProvider, 'name'>, back: string): VNode {
  const address = `${PROVIDER_PATH}/proof?${new URLSearchParams({ back })}`
  return html`<p class="hint">This requires that you sign in again, unless you did in the last 10 minutes.</p>
    <p class="actions"><a class="button" href=${address}>Continue with ${name}</a></p>`
}
