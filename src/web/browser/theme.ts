/** The theme of a person, on every page. This runs before a page is shown: it must not change its colors afterwards. */
const KEY = 'lanekeeper-theme'
const { classList, dataset } = document.documentElement
// Controls that work only with a script are shown.
classList.add('has-js')

const choices = () => document.querySelectorAll<HTMLSelectElement>('[data-theme-choice]')

/** @param theme `light`, `dark`, or empty: the system's */
function use(theme: string): void {
  if (theme === '') delete dataset['theme']
  else dataset['theme'] = theme
  for (const choice of choices()) choice.value = theme
}

function stored(): string {
  try {
    return localStorage.getItem(KEY) ?? ''
  } catch {
    // Without a storage, the theme lasts as long as the page.
    return dataset['theme'] ?? ''
  }
}

function store(theme: string): void {
  try {
    if (theme === '') localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, theme)
  } catch {
    // It is used all the same.
  }
}

use(stored())
addEventListener('DOMContentLoaded', () => {
  use(stored())
  for (const choice of choices())
    choice.addEventListener('change', () => {
      store(choice.value)
      use(choice.value)
    })
})
// Other tabs follow.
addEventListener('storage', ({ key }) => key === KEY && use(stored()))
