import type { VNode } from 'preact'
import { html, renderShell } from './html.ts'
import { sectionLinks } from './navigation.ts'

/** Renders a page of the web app. */
export function renderDocument({
  title,
  path,
  body,
  signedIn,
}: {
  title: string
  path: string
  body: VNode
  signedIn: { formToken: string; email: string } | undefined
}): string {
  const header = html`
    <p class="brand">Lanekeeper <span>Settings</span></p>
    ${
      signedIn &&
      html`<nav aria-label="Settings">
        <span class="hint"><span class="unseen">Signed in as </span>${signedIn.email}</span>
        ${sectionLinks(path)}
        <form method="post" action="/settings/sign-out">
          <input type="hidden" name="form_token" value=${signedIn.formToken} />
          <button class="quiet" name="where" value="here">Sign out</button>
          <button class="quiet" name="where" value="everywhere">Sign out everywhere</button>
        </form>
      </nav>`
    }
  `
  return renderShell({ title: `${title} · Lanekeeper`, assets: '/settings/assets', header, body })
}
