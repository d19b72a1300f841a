/**
 * Makes one option of a listbox the active one, shows it, and tells the field that has the focus.
 * @param index counted from both ends: after the last one comes the first one
 * @returns the index of the option; without options, 0
 */
export function activateOption(field: Element, list: Element, index: number): number {
  const options = Array.from(list.querySelectorAll('[role=option]'))
  const active = (index + options.length) % Math.max(1, options.length)
  for (const [i, option] of options.entries()) option.ariaSelected = String(i === active)
  field.setAttribute('aria-activedescendant', options[active]?.id ?? '')
  options[active]?.scrollIntoView({ block: 'nearest' })
  return active
}
