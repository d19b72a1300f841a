import { z } from 'zod'
import { validationFailed } from '../model/validation.ts'
import { issuesOf } from '../http/input.ts'
import { ApiError } from '../model/errors.ts'
import { documented } from '../model/fields.ts'
import { limits } from '../model/limits.ts'
import { line } from '../model/text.ts'
import { uploadForm } from '../resources/attachments/attachment.ts'
import { formOf } from './text-form.ts'

const contentTypes = ['text/plain', 'text/markdown', 'text/csv', 'application/json'] as const

/** An upload keeps only the last component of a path. */
const isFileName = (name: string) => !/[\\/]/.test(name) && name !== '.' && name !== '..'

/** The arguments of a text file that a tool uploads. */
export const textFile = z.strictObject({
  name: documented(line(limits.fileName).refine(isFileName, 'must be a file name: without \\ and /'), {
    description: 'The name of the file, such as `notes.md`.',
  }),
  text: documented(
    z.string().refine((text) => text.isWellFormed(), 'must be valid Unicode: it contains a lone surrogate'),
    {
      description: 'The content of the file, at most 64 KiB in UTF-8.',
    },
  ),
  content_type: documented(z.enum(contentTypes), { description: 'What the text is.' }).default('text/plain'),
  visibility: uploadForm.shape.visibility,
})

/**
 * The form of an upload with this text.
 * @param args the arguments, as the client sent them
 * @throws {ApiError} `validation_failed`, `payload_too_large`
 */
export function textForm(args: Readonly<Record<string, unknown>>): Blob {
  const { success, data, error } = textFile.safeParse(args)
  if (!success) throw validationFailed(issuesOf(error, 'body'))
  const { name, text, content_type: type, visibility } = data
  requireSmall(text)
  return formOf({ name, type, text, fields: { visibility } })
}

function requireSmall(text: string): void {
  const bytes = Buffer.byteLength(text)
  if (bytes <= limits.attachedTextBytes) return
  throw new ApiError('payload_too_large', {
    message: `The text has ${bytes} bytes in UTF-8, and a tool can attach at most ${limits.attachedTextBytes}. Larger files are uploaded by HTTP: POST /v1/cards/{card_id}/files.`,
    members: { limit_bytes: limits.attachedTextBytes },
  })
}
