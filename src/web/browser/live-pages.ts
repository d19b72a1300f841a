/** The live pages of the window: a board or a card, and a card that is shown over its board. */
import { LivePage } from './live.ts'
import { titleOf } from './notices.ts'

const shown: LivePage[] = []

/** Shows a page on top of the others. */
export function showPage(...parts: ConstructorParameters<typeof LivePage>): LivePage {
  const page = new LivePage(...parts)
  for (const covered of shown) covered.isOnTop = false
  shown.push(page)
  page.start()
  return page
}

/** Takes the page on top away. */
export function hidePage(page: LivePage): void {
  page.end()
  shown.splice(shown.indexOf(page), 1)
  const top = shown.at(-1)
  if (top !== undefined) top.isOnTop = true
}

/** Shows what has changed on all pages. */
export async function catchUp(): Promise<void> {
  await Promise.all(shown.map((page) => page.catchUp()))
}

/** Fetches the page on top, and shows what differs; the covered one catches up. */
export async function refresh(): Promise<void> {
  await Promise.all(shown.map((page) => (page.isOnTop ? page.refresh() : page.catchUp())))
}

const root = document.querySelector<HTMLElement>('[data-feed]')
/** The page that the window was loaded with; undefined: it is not live. */
export const loadedPage = root === null ? undefined : showPage(root, location.href, titleOf(document))
