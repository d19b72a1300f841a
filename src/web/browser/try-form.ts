/**
 * Sends the requests of "Try it". The token is only in its input, is not stored, and is removed when the person leaves the page. A response
 * is shown as text.
 */
export function showTryForm(section: HTMLElement): void {
  section.hidden = false
  const form = section.querySelector('form')!
  const output = section.querySelector<HTMLElement>('[data-response]')!
  const token = form.querySelector<HTMLInputElement>('#token')!
  addEventListener('pagehide', () => {
    token.value = ''
    output.textContent = ''
  })
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    output.hidden = false
    output.textContent = 'Sending …'
    output.textContent = await send(form, token.value.trim()).catch((error: Error) => `The request failed: ${error.message}`)
  })
}

/** @returns the status, the ETag and the body of the response, for people */
async function send(form: HTMLFormElement, token: string): Promise<string> {
  const { method, path } = form.dataset
  let filled = path!
  const query = new URLSearchParams()
  for (const { dataset, value } of form.querySelectorAll<HTMLInputElement>('[data-in]')) {
    const name = dataset['name']!
    if (dataset['in'] === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value.trim()))
    else if (value !== '') query.set(name, value)
  }
  const body = form.querySelector<HTMLTextAreaElement>('#try-body')?.value
  const response = await fetch(filled + (query.size === 0 ? '' : `?${query}`), {
    method: method!,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    credentials: 'omit',
    cache: 'no-store',
    ...(body !== undefined && { body }),
  })
  const etag = response.headers.get('etag')
  const head = `${response.status} ${response.statusText}${etag === null ? '' : `\nETag: ${etag}`}`
  return `${head}\n\n${indented(await response.text())}`
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
