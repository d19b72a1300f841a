/** Several lines that are pasted where one thing is added become so many things, if the person wants that. */
import { add } from './send.ts'
import { say } from './toast.ts'

/** More lines than this are no list of cards. */
const MOST = 50

export function offerPastedLines(): void {
  document.addEventListener('paste', ({ target, clipboardData }) => {
    const input = target as HTMLInputElement
    const form = input.closest<HTMLFormElement>('[data-add] form')
    const lines = (clipboardData?.getData('text') ?? '').split(/\r?\n/).map((line) => line.trim())
    const titles = lines.filter((line) => line !== '')
    if (form === null || titles.length < 2 || titles.length > MOST) return
    const addAll = () => {
      for (const title of titles) {
        input.value = title
        void add(form)
      }
    }
    // The field has them as one line until then.
    say(`You have pasted ${titles.length} lines.`, { name: `Add ${titles.length}`, act: addAll })
  })
}
