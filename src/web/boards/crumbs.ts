import type { VNode } from 'preact'
import { html } from '../html.ts'

/** The way to a page. Each step is a link, unless it has no address. */
export function renderCrumbs(steps: readonly (readonly [text: string, path?: string])[]): VNode {
  return html`<nav class="crumbs" id="crumbs" aria-label="Breadcrumb">
    ${steps.map(([text, path], i) => html`${i > 0 && html`<span aria-hidden="true">/</span> `}${path === undefined ? html`<bdi>${text}</bdi>` : html`<a href=${path} dir="auto">${text}</a>`} `)}
  </nav>`
}
