/** The style of the reference, in addition to that of the web app. */
export const referenceStyle = `
main { width: min(60rem, 100% - 2rem) }
.request { font-size: 1.1rem }
.members { margin: .5rem 0; display: block }
.members dt { margin-top: .6rem; overflow-wrap: anywhere; font-weight: 400 }
.members dd { margin: 0 0 0 1.25rem; overflow-wrap: anywhere }
.limits { display: block; overflow-wrap: anywhere }
.operations { padding-left: 1.25rem }
.operations li { margin: .35rem 0 }
.operations code { margin-left: .6rem }
.operations .hint { display: block }
details { border-top: 1px solid var(--line); padding: .5rem 0 }
summary { cursor: pointer }
summary h3 { display: inline; margin-right: .5rem }
pre { background: var(--sheet); border: 1px solid var(--line); border-radius: .4rem; padding: .75rem; overflow: auto; max-height: 30rem; white-space: pre-wrap; overflow-wrap: anywhere }
figure { margin: .5rem 0 }
textarea { display: block; width: 100%; margin-top: .3rem; padding: .55rem .7rem; font: .9em ui-monospace, monospace; color: inherit; background: var(--ground); border: 1px solid var(--soft); border-radius: .4rem }
`

/**
 * Sends the requests of "Try it". The token is only in its input, is not stored, and is removed when the person leaves
 * the page. A response is shown as text.
 */
export const referenceScript = `'use strict'
for (const section of document.querySelectorAll('[data-try]')) {
  section.hidden = false
  const form = section.querySelector('form')
  const output = section.querySelector('[data-response]')
  const token = form.querySelector('#token')
  const body = form.querySelector('#try-body')
  addEventListener('pagehide', () => {
    token.value = ''
    output.textContent = ''
  })
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    let path = form.dataset.path
    const query = new URLSearchParams()
    for (const input of form.querySelectorAll('[data-in]')) {
      const { name } = input.dataset
      if (input.dataset.in === 'path') path = path.replace('{' + name + '}', encodeURIComponent(input.value.trim()))
      else if (input.value !== '') query.set(name, input.value)
    }
    const search = query.size === 0 ? '' : '?' + query
    const headers = { authorization: 'Bearer ' + token.value.trim() }
    if (body !== null) headers['content-type'] = 'application/json'
    const init = { method: form.dataset.method, headers, credentials: 'omit', cache: 'no-store' }
    if (body !== null) init.body = body.value
    output.hidden = false
    output.textContent = 'Sending …'
    try {
      const response = await fetch(path + search, init)
      const text = await response.text()
      let shown = text
      try {
        shown = JSON.stringify(JSON.parse(text), null, 2)
      } catch {}
      const etag = response.headers.get('etag')
      output.textContent = response.status + ' ' + response.statusText + (etag === null ? '' : '\\nETag: ' + etag) + '\\n\\n' + shown
    } catch (error) {
      output.textContent = 'The request failed: ' + error.message
    }
  })
}
`
