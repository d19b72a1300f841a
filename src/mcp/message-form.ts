// What clients write around a message, read as it is meant.

/** How a client takes an answer: as the library makes it, or as JSON alone; undefined: in neither form. */
export type AnswerFormat = 'any' | 'json' | undefined

/**
 * Reads the `Accept` of a request (RFC 9110 §12.5.1).
 * @param accept a client that names no type, or any, can read JSON; many bridges and curl do so
 */
export function answerFormat(accept: string | null): AnswerFormat {
  const ranges = new Map((accept ?? '').toLowerCase().split(',').flatMap(readRange))
  if (ranges.size === 0) return 'json'
  const takes = (type: string, ...wider: readonly string[]) =>
    [type, ...wider].map((range) => ranges.get(range)).find((one) => one !== undefined)
  if (ranges.get('text/event-stream') === true) return 'any'
  if (takes('application/json', 'application/*', '*/*') === true) return 'json'
  return takes('text/event-stream', 'text/*', '*/*') === true ? 'any' : undefined
}

/** A range of types, and whether the client takes it: with q=0, it does not. */
function readRange(text: string): readonly (readonly [string, boolean])[] {
  const [type, ...parameters] = text.split(';').map((part) => part.trim())
  const [, quality] = parameters.map((one) => /^q\s*=\s*(.*)$/.exec(one)).find((one) => one !== null) ?? []
  return type === '' ? [] : [[type!, quality === undefined || Number(quality) !== 0]]
}

/** A message without the parameters that are null: they count as left out, as the arguments of a tool do. */
export function withoutNulls(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || !('params' in message)) return message
  const { params, ...others } = message
  if (params === null) return others
  if (typeof params !== 'object' || Array.isArray(params)) return message
  return { ...others, params: Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null)) }
}
