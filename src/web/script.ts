/**
 * The one script. Everything works without it; with it a token can be copied with a button, and is taken out of
 * the page when the page is left, so that no browser keeps it for going back.
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
      status.textContent = 'It could not be copied. Select it and copy it by hand.'
    }
  })
}
// Who presses twice on a slow line would see the answer to the second time only, and never the token.
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
