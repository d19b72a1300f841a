import { randomUUID } from 'node:crypto'

/** What a form with one file consists of. */
export interface FileForm {
  /** without its line breaks, which no name has */
  readonly name: string
  readonly type: string
  readonly text: string
  readonly fields: Readonly<Record<string, string>>
}

/**
 * A form with one file, whose name arrives as it is. A `FormData` writes a quotation mark as `%22`, so who reads it takes a name that
 * contains `%22` for another one (HTML §4.10.21.8). The extended parameter is exact (RFC 8187).
 * @returns the body; its type is the `Content-Type`
 */
export function formOf({ name, type, text, fields }: FileForm): Blob {
  const boundary = randomUUID()
  const part = (head: string, content: string) => `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`
  const parts = [
    ...Object.entries(fields).map(([field, value]) => part(`name="${field}"`, value)),
    part(`name="file"; filename*=UTF-8''${encodeURIComponent(name)}\r\nContent-Type: ${type}`, text),
  ]
  return new Blob([...parts, `--${boundary}--\r\n`], { type: `multipart/form-data; boundary=${boundary}` })
}
