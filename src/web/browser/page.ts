/** The script of every page of the web app. Every page works without it, except for passkeys. */
import { showCopyButtons } from './copy-buttons.ts'
import { closeMenus } from './menus.ts'
import { showPasskeyButtons } from './passkeys.ts'
import { keepTimes } from './times.ts'

showCopyButtons()
showPasskeyButtons()
closeMenus()
keepTimes()

// A second click on a slow connection would show the response to the second request, which contains no token.
for (const form of document.forms) {
  // These are sent in place, again and again.
  if (form.dataset['send'] !== undefined) continue
  let sent = false
  form.addEventListener('submit', (event) => {
    if (sent) event.preventDefault()
    sent = true
  })
  addEventListener('pageshow', () => (sent = false))
}

// A secret leaves the page with the person: the browser's back/forward cache does not keep it.
addEventListener('pagehide', () => {
  for (const secret of document.querySelectorAll('[data-once]')) secret.replaceChildren()
})

// Without the script, a lifetime counts that was entered, whatever is chosen.
for (const group of document.querySelectorAll('[data-lifetime]')) {
  const number = group.querySelector<HTMLInputElement>('[name=custom_days]')!
  group.addEventListener('input', ({ target }) => {
    if (target === number) group.querySelector<HTMLInputElement>('[value=custom]')!.checked = true
  })
  group.addEventListener('change', ({ target }) => {
    const { type, value } = target as HTMLInputElement
    if (type !== 'radio') return
    if (value === 'custom') number.focus()
    else number.value = ''
  })
}
