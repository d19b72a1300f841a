import type { VNode } from 'preact'
import { lazy } from '../../model/lazy.ts'
import { html } from '../html.ts'

const uqr = lazy(() => import('uqr'))

/** A QR code as an image in the page: dark squares on a white ground, in the dark look too, so that every camera reads it. */
export async function qrCode(text: string, label: string): Promise<VNode> {
  const { encode } = await uqr()
  const { data, size } = encode(text, { ecc: 'M', border: 4 })
  const squares = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label=${label} shape-rendering="crispEdges">
    <rect width=${size} height=${size} fill="#fff" />
    <path d=${squares.join('')} fill="#000" />
  </svg>`
}
