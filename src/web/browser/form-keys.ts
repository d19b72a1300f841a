/**
 * The keys of forms that create something: what is sent once more after no answer came is created once. The keys that the page has are for
 * browsers without its script, and would make each version of the page another one.
 */
const FIELD = 'form_key'
const keys = new WeakMap<HTMLFormElement, string>()

export function useFormKeys(): void {
  forgetKeys(document)
  document.addEventListener('formdata', ({ target, formData }) => {
    const form = target as HTMLFormElement
    if (form.dataset['send'] !== undefined && formData.has(FIELD)) formData.set(FIELD, keyOf(form))
  })
}

/** Takes the keys out of a page: its forms get others. */
export function forgetKeys(page: ParentNode): void {
  for (const field of page.querySelectorAll<HTMLInputElement>(`[data-send] > [name=${FIELD}]`)) field.value = ''
}

// `crypto.randomUUID` is missing where a service is reached over http.
export const newKey = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-')

function keyOf(form: HTMLFormElement): string {
  const key = keys.get(form) ?? newKey()
  keys.set(form, key)
  return key
}

/**
 * Takes the key from a form: what is sent next is something else.
 * @returns it, to be given back when nothing was created
 */
export function takeKey(form: HTMLFormElement): string {
  const key = keyOf(form)
  keys.delete(form)
  return key
}

export function giveBack(form: HTMLFormElement, key: string): void {
  keys.set(form, key)
}
