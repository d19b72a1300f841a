/** Shows what has opened beside an element, inside the window. */
export function placeBeside(menu: HTMLElement, element: Element): void {
  const { right, bottom, top } = element.getBoundingClientRect()
  const { width, height } = menu.getBoundingClientRect()
  const left = Math.max(8, Math.min(right - width, innerWidth - width - 8))
  const below = bottom + 4 + height <= innerHeight - 8 ? bottom + 4 : Math.max(8, top - 4 - height)
  Object.assign(menu.style, { left: `${left}px`, top: `${below}px` })
}
