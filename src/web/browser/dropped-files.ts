/** Files that are dropped on a card or its tile, or pasted on a card, are attached to it. */
import { sendFile } from './send.ts'

/** The card that something happens on: the tile, or the page of the card. */
function cardAt(target: EventTarget | null): string | undefined {
  const place = target instanceof Element ? target.closest<HTMLElement>('.tile[data-position], [data-feed][data-card]') : null
  return place?.dataset['card'] ?? place?.id
}

async function attach(card: string, files: readonly File[]): Promise<void> {
  for (const file of files) if (!(await sendFile(card, file))) return
}

export function attachDroppedFiles(): void {
  let over: Element | undefined
  const mark = (place?: Element) => {
    over?.classList.remove('takes-files')
    place?.classList.add('takes-files')
    over = place
  }
  document.addEventListener('dragover', (event) => {
    if (event.dataTransfer?.types.includes('Files') !== true) return
    // The browser would leave the page, and show the file.
    event.preventDefault()
    const card = cardAt(event.target)
    event.dataTransfer.dropEffect = card === undefined ? 'none' : 'copy'
    mark(card === undefined ? undefined : (document.getElementById(card) ?? (event.target as Element).closest('[data-card]') ?? undefined))
  })
  document.addEventListener('dragleave', ({ relatedTarget }) => relatedTarget === null && mark())
  document.addEventListener('drop', (event) => {
    mark()
    const files = Array.from(event.dataTransfer?.files ?? [])
    if (files.length === 0) return
    event.preventDefault()
    const card = cardAt(event.target)
    if (card !== undefined) void attach(card, files)
  })
  document.addEventListener('paste', (event) => {
    const { target, clipboardData } = event
    // Programs that copy text put a picture of it beside it.
    if (clipboardData === null || clipboardData.files.length === 0 || clipboardData.getData('text') !== '') return
    const card = cardAt(target === document.body ? document.querySelector('[data-feed][data-card]') : target)
    if (card === undefined) return
    event.preventDefault()
    void attach(card, Array.from(clipboardData.files))
  })
}
