/** Where an annotation is shown. */
export interface AnnotatedPlace {
  readonly path: string
  /** from 1 */
  readonly line: number
  /** from 1 */
  readonly column: number
}

/**
 * Shows an error on the page of a change, if GitHub Actions runs the command. It is a workflow command on stderr, which GitHub reads like
 * stdout, so that the result on stdout stays what its format says.
 * @param at default: it is about the run
 */
export function annotate(title: string, message: string, at?: AnnotatedPlace): void {
  if (process.env['GITHUB_ACTIONS'] !== 'true') return
  const place = at === undefined ? {} : { file: at.path, line: at.line, col: at.column }
  const properties = Object.entries({ ...place, title }).map(([name, value]) => `${name}=${escapeProperty(String(value))}`)
  console.error(`::error ${properties.join(',')}::${escapeData(message)}`)
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
