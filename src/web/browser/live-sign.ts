const TEXTS = { live: 'Live', waiting: 'Reconnecting', ended: 'Not live' }
export type LiveState = keyof typeof TEXTS

/** Shows in the head of a live page how it gets its changes. */
export function showSign(root: HTMLElement, state: LiveState): void {
  const sign = root.querySelector<HTMLElement>('[data-live]')
  if (sign === null) return
  sign.hidden = false
  sign.dataset['state'] = state
  sign.querySelector('[data-live-text]')!.textContent = TEXTS[state]
}
