/**
 * The lines of a stream of bytes. The next bytes are asked for only when the lines before them were taken, so
 * an export that is larger than memory passes through.
 */
export async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let pieces: string[] = []
  for await (const bytes of stream) {
    const [first, ...others] = decoder.decode(bytes, { stream: true }).split('\n')
    pieces.push(first!)
    for (const next of others) {
      yield pieces.join('')
      pieces = [next]
    }
  }
  const rest = pieces.join('') + decoder.decode()
  if (rest !== '') yield rest
}
