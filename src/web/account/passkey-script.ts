/**
 * The script of passkeys. It shows the buttons that use one, if the browser can read and write their JSON itself, and sends the
 * form with the answer. Every page works without it, with a password.
 */
export const passkeyScript = `
for (const box of document.querySelectorAll('[data-passkey]')) {
  if (!self.PublicKeyCredential || !PublicKeyCredential.parseRequestOptionsFromJSON || !PublicKeyCredential.prototype.toJSON) break
  const { form } = box.querySelector('input')
  const button = box.querySelector('button')
  const status = box.querySelector('[role=status]')
  box.hidden = false
  button.addEventListener('click', async () => {
    const isNew = box.dataset.passkey === 'register'
    if (isNew && !form.reportValidity()) return
    button.disabled = true
    status.textContent = ''
    try {
      const body = new URLSearchParams({ form_token: form.elements.form_token.value })
      const response = await fetch(box.dataset.challenge, { method: 'POST', body })
      const data = await response.json().catch(() => ({}))
      if (!response.ok) throw new Error(data.error || 'The challenge could not be loaded. Open the page again.')
      const credential = isNew
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(data) })
        : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(data) })
      form.elements[box.dataset.field].value = JSON.stringify(credential.toJSON())
      form.submit()
    } catch (error) {
      status.textContent =
        error.name === 'NotAllowedError' ? 'No passkey was used. Try again.'
        : error.name === 'InvalidStateError' ? 'This device already has a passkey for your account.'
        : error.name === 'SecurityError' ? 'The browser allows no passkeys at this address.'
        : error.message
      button.disabled = false
    }
  })
}
`
