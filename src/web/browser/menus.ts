/** Lets the menus of the header close like any other menu: with Escape, and by a click elsewhere. */
export function closeMenus(): void {
  for (const menu of document.querySelectorAll<HTMLDetailsElement>('[data-menu]')) {
    addEventListener('click', ({ target }) => {
      if (!menu.contains(target as Node)) menu.open = false
    })
    menu.addEventListener('keydown', ({ key }) => {
      if (key !== 'Escape' || !menu.open) return
      menu.open = false
      menu.querySelector('summary')!.focus()
    })
  }
}
