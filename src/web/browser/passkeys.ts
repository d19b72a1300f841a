/**
 * Shows the buttons that use a passkey, if the browser can read and write their JSON itself. They send the form with the answer. Every page
 * works without it, with a password.
 */
export function showPasskeyButtons(): void {
  if (
    !('PublicKeyCredential' in self) ||
    !('parseRequestOptionsFromJSON' in PublicKeyCredential) ||
    !('toJSON' in PublicKeyCredential.prototype)
  )
    return
  for (const box of document.querySelectorAll<HTMLElement>('[data-passkey]')) {
    const button = box.querySelector('button')!
    const status = box.querySelector('[role=status]')!
    box.hidden = false
    button.addEventListener('click', async () => {
      const input = box.querySelector('input')!
      if (box.dataset['passkey'] === 'register' && !input.form!.reportValidity()) return
      button.disabled = true
      status.textContent = ''
      try {
        input.value = JSON.stringify(await askForPasskey(box, input.form!))
        input.form!.submit()
      } catch (error) {
        status.textContent = textOf(error as Error)
        button.disabled = false
      }
    })
  }
}

async function askForPasskey(box: HTMLElement, form: HTMLFormElement): Promise<unknown> {
  const body = new URLSearchParams({ form_token: (form.elements.namedItem('form_token') as HTMLInputElement).value })
  const response = await fetch(box.dataset['challenge']!, { method: 'POST', body })
  const data = await response.json().catch(() => ({}))
  if (!response.ok) throw new Error(data.error || 'The challenge could not be loaded. Open the page again.')
  const credential =
    box.dataset['passkey'] === 'register'
      ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(data) })
      : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(data) })
  return (credential as PublicKeyCredential).toJSON()
}

function textOf({ name, message }: Error): string {
  if (name === 'NotAllowedError') return 'No passkey was used. Try again.'
  if (name === 'InvalidStateError') return 'This device already has a passkey for your account.'
  return name === 'SecurityError' ? 'The browser allows no passkeys at this address.' : message
}
