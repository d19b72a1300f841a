import type { VNode } from 'preact'
import { html } from './html.ts'

/** The sections of the web app, as its header shows them to a person who is signed in. */
const sections: readonly { readonly path: string; readonly label: string }[] = [
  { path: '/app', label: 'Boards' },
  { path: '/settings/tokens', label: 'API tokens' },
  { path: '/settings/activity', label: 'Activity' },
  { path: '/settings/workspace', label: 'Workspace' },
  { path: '/settings/account', label: 'Account' },
]

/** The links to the sections. @param path the path of the page that is shown */
export function sectionLinks(path: string): VNode {
  return html`${sections.map(
    (section) => html`<a href=${section.path} aria-current=${isWithin(path, section.path) ? 'page' : undefined}>${section.label}</a>`,
  )}`
}

function isWithin(path: string, section: string): boolean {
  return path === section || path.startsWith(`${section}/`)
}
