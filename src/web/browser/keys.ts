/** Whether a person writes or chooses something there: keys are theirs then. */
export const isTyping = (target: EventTarget | null): boolean => target instanceof Element && target.matches('input, select, textarea')

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
  // Signs need Shift on many keyboards.
  if (!/^[a-z]$/i.test(key)) return key
  return shiftKey ? undefined : (SAME[key.toLowerCase()] ?? key.toLowerCase())
}
