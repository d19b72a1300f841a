/** The script of every page of the web app. Every page works without it, except for passkeys. */
import { showCopyButtons } from './copy-buttons.ts'
import { showPasskeyButtons } from './passkeys.ts'

showCopyButtons()
showPasskeyButtons()

// A second click on a slow connection would show the response to the second request, which contains no token.
for (const form of document.forms) {
  // These are sent in place, any number of times.
  if (form.dataset['send'] !== undefined) continue
  let sent = false
  form.addEventListener('submit', (event) => {
    if (sent) event.preventDefault()
    sent = true
  })
  addEventListener('pageshow', () => (sent = false))
}

// The account menu closes like any other menu.
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

// A token leaves the page with the person: the browser's back/forward cache does not keep it.
addEventListener('pagehide', () => {
  for (const secret of document.querySelectorAll('[data-once]')) secret.replaceChildren()
})

/** A time in the zone of the person; without the script, it is in UTC. */
function zoned(text: string): string {
  const at = new Date(text)
  const zone = new Intl.DateTimeFormat('en', { timeZoneName: 'short' }).formatToParts(at).find(({ type }) => type === 'timeZoneName')!.value
  const two = (number: number) => String(number).padStart(2, '0')
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-')
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())} ${zone}`
}
for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-exact]')) {
  time.title = time.textContent
  time.textContent = zoned(time.dateTime)
}
for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-distance]')) time.title = zoned(time.dateTime)

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
