/** The form token in the forms of the page. Each answer of the service has it in another way, and every way is accepted. */

/** Puts a form token into all forms of the page: the present session may have another one. */
export function putToken(token: string): void {
  for (const page of document.querySelectorAll<HTMLElement>('[data-forms]')) page.dataset['token'] = token
  for (const field of document.querySelectorAll<HTMLInputElement>('[name=form_token]')) field.value = token
}

/** Takes the form token of another version of a part of the page, so that the two differ only in what has changed. */
export function takeToken(next: Element): void {
  const token = next.getAttribute('data-token') ?? next.querySelector<HTMLInputElement>('[name=form_token]')?.value
  if (token !== undefined) putToken(token)
}
