/**
 * Pages that are fetched again as a whole: the inbox, and the agents of a workspace. What differs is merged into the page. Without it, a
 * page works, and is up to date when it is loaded.
 */
import { isWriting } from './drafts.ts'
import { keepFocus } from './focus.ts'
import { merge } from './merge.ts'
import { showTimes } from './times.ts'

/** How long an update waits that would move a control under the pointer, in milliseconds. */
const HOVERED = 500
const CONTROLS = 'a, button, summary, input, textarea, select, label'

const root = document.querySelector<HTMLElement>('[data-refreshed]')
const hasPointer = matchMedia('(hover: hover)')
let isAsked = false
let running: Promise<void> | undefined

/** Fetches the page, and shows what is new. A page that cannot be fetched now is fetched the next time. */
export function refreshPage(): void {
  if (root === null || document.visibilityState === 'hidden') return
  isAsked = true
  running ??= run()
    .catch(() => undefined)
    .finally(() => (running = undefined))
}

async function run(): Promise<void> {
  while (isAsked) {
    isAsked = false
    const response = await fetchPage()
    if (response !== undefined) show(await response.text())
    // What was put in the place of a control would get the click that was meant for the control.
    while (isAsked && isOnControl()) await new Promise((resolve) => setTimeout(resolve, HOVERED))
  }
}

/** @returns undefined: nothing is new, or it cannot be read now */
async function fetchPage(): Promise<Response | undefined> {
  const { version } = root!.dataset
  const response = await fetch(location.href, {
    headers: { accept: 'text/html', ...(version !== undefined && { 'if-none-match': `W/"${version}"` }) },
  })
  const isOver = response.redirected || response.status === 404 || response.status === 403
  // The session has ended, or the person may not read this any more: loaded again, the page says so.
  if (isOver && !isWriting()) location.reload()
  return response.ok && !isOver ? response : undefined
}

function show(text: string): void {
  // It is older than what the person does now.
  if (isOnControl()) return void (isAsked = true)
  const next = new DOMParser().parseFromString(text, 'text/html').querySelector('[data-refreshed]')
  if (next === null) return
  keepFocus(() => {
    for (const version of [root!, next]) showTimes(version, Date.now())
    merge(root!, document.adoptNode(next))
  })
}

const isOnControl = () => hasPointer.matches && root!.querySelector(`:is(${CONTROLS}):hover`) !== null

/** Refreshes the page as often as it says, while somebody looks at it. */
export function keepRefreshed(): void {
  const seconds = Number(root?.dataset['refreshed'])
  if (!(seconds > 0)) return
  setInterval(refreshPage, seconds * 1000)
  document.addEventListener('visibilitychange', refreshPage)
  addEventListener('pageshow', ({ persisted }) => persisted && refreshPage())
}
