/** What a page says of changes: one element, at the edge of the window, until it says something else. */
const toast = document.querySelector<HTMLElement>('[data-announcement]')
const text = toast?.querySelector('[role=status]')

/** @param said empty: nothing any more */
export function say(said: string): void {
  if (text != null) text.textContent = said
}

toast?.querySelector('[aria-label=Dismiss]')?.addEventListener('click', () => say(''))
