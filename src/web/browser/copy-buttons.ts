import { createElement } from './create-element.ts'

/** Shows the buttons that copy a text of the page. */
export function showCopyButtons(): void {
  for (const button of document.querySelectorAll<HTMLElement>('[data-copy]')) {
    // Feedback is in the button that was pressed. Screen readers announce the status beside it.
    const label = button.firstChild as Text
    const status = createElement('span', { className: 'unseen', role: 'status' })
    button.after(status)
    button.hidden = false
    let reset: number | undefined
    button.addEventListener('click', async () => {
      clearTimeout(reset)
      try {
        await navigator.clipboard.writeText(document.getElementById(button.dataset['copy']!)!.textContent)
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
}
