/**
 * The only script. Every page works without it. It adds a button that copies a token, and removes the token from the
 * page when the person leaves it, so that the browser's back/forward cache does not keep it.
 */
export const script = `'use strict'
for (const button of document.querySelectorAll('[data-copy]')) {
  button.hidden = false
  button.addEventListener('click', async () => {
    const status = document.querySelector('[data-copied]')
    try {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent)
      status.textContent = 'Copied.'
    } catch {
      status.textContent = 'Copying failed. Select the text and copy it yourself.'
    }
  })
}
// A second click on a slow connection would show the response to the second request, which contains no token.
for (const form of document.forms) {
  let sent = false
  form.addEventListener('submit', (event) => {
    if (sent) event.preventDefault()
    sent = true
  })
  addEventListener('pageshow', () => (sent = false))
}
addEventListener('pagehide', () => {
  for (const secret of document.querySelectorAll('[data-once]')) secret.replaceChildren()
})
`
