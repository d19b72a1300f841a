/**
 * Previews of large pictures, which tiles and lists show in place of them. The browser of a person who attaches a picture makes one, once:
 * it decodes pictures of other people anyway, and does so in a process that may do nothing else.
 */

/** A smaller picture is its own preview, and a preview is no larger. In bytes, as the service has it. */
const SMALL = 60 * 1024
/** The longest side in pixels: a tile is 280 wide, on screens with two pixels for each of these. */
const LONGEST_SIDE = 640
const FORMATS = ['image/webp', 'image/jpeg'] as const
const QUALITIES = [0.8, 0.6, 0.4, 0.2] as const

/**
 * Gives an attachment a preview, if it is a large picture. Without one, tiles show its name.
 * @param address of the attachment
 */
export async function keepPreview(address: string, file: Blob): Promise<void> {
  if (file.size <= SMALL || !file.type.startsWith('image/')) return
  try {
    const preview = await previewOf(file)
    if (preview === undefined) return
    const { token = '' } = document.querySelector<HTMLElement>('[data-forms]')?.dataset ?? {}
    const body = new URLSearchParams({ form_token: token, preview: await base64Of(preview) })
    const { ok } = await fetch(`${address}/preview`, { method: 'POST', headers: { accept: 'application/json' }, body })
    if (ok) showAnew(`${address}/preview`)
  } catch {
    // The file is attached all the same. Browsers cannot read every picture.
  }
}

async function previewOf(file: Blob): Promise<Blob | undefined> {
  const picture = await createImageBitmap(file)
  const scale = Math.min(1, LONGEST_SIDE / Math.max(picture.width, picture.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(picture.width * scale))
  canvas.height = Math.max(1, Math.round(picture.height * scale))
  canvas.getContext('2d')!.drawImage(picture, 0, 0, canvas.width, canvas.height)
  picture.close()
  for (const format of FORMATS)
    for (const quality of QUALITIES) {
      const made = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, format, quality))
      // A browser that does not know a format makes a PNG.
      if (made?.type !== format) break
      if (made.size <= SMALL) return made
    }
  return undefined
}

async function base64Of(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer())
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Until now, the page has shown the name of the picture. */
function showAnew(address: string): void {
  for (const image of document.querySelectorAll('img'))
    if (new URL(image.src).pathname === new URL(address, location.href).pathname) image.src = `${address}?${Date.now()}`
}
