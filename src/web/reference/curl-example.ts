import type { RequestExample } from './request-example.ts'

/** A longer body is written on several lines. */
const LINE = 60

/** The commands of curl for a request, for a shell. They read the token from the variable TOKEN. @param base with /v1 */
export function curlText({ method, path, params, query, body, answer, takesUpload }: RequestExample, base: string): string {
  const search = String(new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])))
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => params[name]!)
  const url = word(`${base}${filled}${search && `?${search}`}`)
  const verb = [method === 'GET' ? '' : ` -X ${method}`, answer === 'events' ? ' -N' : ''].join('')
  const command = (...further: string[]) => [`curl${verb} ${url}`, '-H "Authorization: Bearer $TOKEN"', ...further].join(' \\\n  ')
  const output = answer === 'bytes' ? ['-o file'] : []
  const json = body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${word(jsonOf(body))}`]
  if (!takesUpload) return command(...json, ...output)
  return `# A new file\n${command(`-F 'file=@notes.txt;type=text/plain'`)}\n\n# A file that is there\n${command(...json)}`
}

function jsonOf(body: unknown): string {
  const short = JSON.stringify(body)
  return short.length > LINE ? JSON.stringify(body, null, 2).replaceAll('\n', '\n  ') : short
}

/** A word of a shell command. */
function word(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
