/** The script of the reference. Every page works without it, except for "Try it". */
import { showCopyButtons } from './copy-buttons.ts'
import { closeMenus } from './menus.ts'
import { showSearch } from './reference-search.ts'
import { showTryForm } from './try-form.ts'

showCopyButtons()
closeMenus()
for (const form of document.querySelectorAll<HTMLFormElement>('form.search')) showSearch(form)
for (const section of document.querySelectorAll<HTMLElement>('[data-try]')) showTryForm(section)

// The list of pages is open on a wide screen, also where the style sheet cannot open it, and at the present page.
for (const sidebar of document.querySelectorAll('.sidebar')) {
  const current = sidebar.querySelector<HTMLElement>('li [aria-current]')
  if (!matchMedia('(min-width: 60rem)').matches) continue
  sidebar.querySelector('details')!.open = true
  if (current !== null) sidebar.scrollTop = current.offsetTop - sidebar.clientHeight / 2
}
