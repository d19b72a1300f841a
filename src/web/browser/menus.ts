import { hasText } from './merge.ts'

/**
 * Lets menus, and what opens beside them, close like any other menu: with Escape, and by a click elsewhere. What was written stays in it.
 * They close when the click has done its work: what moves under the pointer before that would get none.
 */
export function closeMenus(): void {
  addEventListener('click', (event) => {
    // What the click has removed was in it, too.
    const path = event.composedPath()
    for (const menu of document.querySelectorAll<HTMLDetailsElement>('[data-menu][open]'))
      if (!path.includes(menu) && !(menu.dataset['add'] !== undefined && hasText(menu))) menu.open = false
  })
  addEventListener('keydown', (event) => {
    const open = (event.target as Element).closest<HTMLDetailsElement>('[data-menu][open], .edit[open]')
    if (event.key !== 'Escape' || open === null) return
    event.preventDefault()
    open.open = false
    open.querySelector('summary')!.focus()
  })
}
