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
addEventListener('pagehide', () => {
  for (const secret of document.querySelectorAll('[data-once]')) secret.replaceChildren()
})
`
