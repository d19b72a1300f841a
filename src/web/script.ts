/** Shows the buttons that copy a text of the page. */
export const copyScript = `for (const button of document.querySelectorAll('[data-copy]')) {
  // Feedback is in the button that was pressed. Screen readers announce the status beside it.
  const label = button.firstChild
  const status = document.createElement('span')
  status.className = 'unseen'
  status.setAttribute('role', 'status')
  button.after(status)
  button.hidden = false
  let reset
  button.addEventListener('click', async () => {
    clearTimeout(reset)
    try {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent)
      label.data = 'Copied'
      status.textContent = 'Copied.'
    } catch {
      status.className = 'error'
      status.textContent = 'Copying failed. Select the text and copy it yourself.'
    }
    reset = setTimeout(() => {
      label.data = 'Copy'
      if (status.className === 'unseen') status.textContent = ''
    }, 3000)
  })
}
`

/**
 * The only script. Every page works without it. It adds a button that copies a token, and removes the token from the
 * page when the person leaves it, so that the browser's back/forward cache does not keep it.
 */
export const script = `'use strict'
${copyScript}// A second click on a slow connection would show the response to the second request, which contains no token.
for (const form of document.forms) {
  let sent = false
  form.addEventListener('submit', (event) => {
    if (sent) event.preventDefault()
    sent = true
  })
  addEventListener('pageshow', () => (sent = false))
}
// The account menu closes like any other menu.
for (const menu of document.querySelectorAll('[data-menu]')) {
  addEventListener('click', (event) => {
    if (!menu.contains(event.target)) menu.open = false
  })
  menu.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !menu.open) return
    menu.open = false
    menu.querySelector('summary').focus()
  })
}
addEventListener('pagehide', () => {
  for (const secret of document.querySelectorAll('[data-once]')) secret.replaceChildren()
})
`
