/** Whether a person writes or chooses something there: keys are theirs then. */
export const isTyping = (target: EventTarget | null): boolean => target instanceof Element && target.matches('input, select, textarea')

/** Where a person has said that they want no keys of one sign, which a slip or a voice presses, too (WCAG 2.1.4). */
const KEY = 'lanekeeper-single-keys'

export function hasSingleKeys(): boolean {
  try {
    return localStorage.getItem(KEY) !== 'off'
  } catch {
    // The browser keeps nothing for the page.
    return true
  }
}

export function keepSingleKeys(isOn: boolean): void {
  try {
    if (isOn) localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, 'off')
  } catch {
    // It is as it was when the page is loaded again.
  }
}

const SAME: Readonly<Record<string, string>> = { j: 'ArrowDown', k: 'ArrowUp' }

/**
 * The key of an event as a command to the page; undefined while a person types or reads a dialog, and together with another key.
 * @param dialogs those that the command is not for
 */
export function commandOf(
  { key, target, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent,
  dialogs = 'dialog[open]',
): string | undefined {
  if (ctrlKey || metaKey || altKey || isTyping(target) || document.querySelector(dialogs) !== null) return undefined
  if (/^\S$/.test(key) && !hasSingleKeys()) return undefined
  // Signs need Shift on many keyboards.
  if (!/^[a-z]$/i.test(key)) return key
  return shiftKey ? undefined : (SAME[key.toLowerCase()] ?? key.toLowerCase())
}
