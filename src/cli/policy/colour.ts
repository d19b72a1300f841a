import { styleText } from 'node:util'

type Style = 'green' | 'red' | 'bold' | 'dim'

/** Functions that colour text, if the stream is a terminal and the environment does not forbid it (`NO_COLOR`). */
export function painter(stream: { readonly isTTY?: boolean }): Readonly<Record<Style, (text: string) => string>> {
  const isColoured = stream.isTTY === true && (process.env['NO_COLOR'] ?? '') === ''
  const paint = (style: Style) => (text: string) => (isColoured ? styleText(style, text) : text)
  return { green: paint('green'), red: paint('red'), bold: paint('bold'), dim: paint('dim') }
}
