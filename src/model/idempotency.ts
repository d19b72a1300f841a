import { z } from 'zod'
import { hash, hour, idOf, shortText, amount } from './fields.ts'

/** Where in the data of a response a long text belongs, and its SHA-256. */
const responseTextPlace = z.strictObject({
  path: z
    .array(z.union([shortText, amount]))
    .max(8)
    .readonly(),
  sha256: hash,
})
export type ResponseTextPlace = Readonly<z.infer<typeof responseTextPlace>>

/** The first response to a write with an Idempotency-Key. It is written in the commit of the change itself. */
export const firstResponse = z.strictObject({
  /** SHA-256 of the token, or of a text with the id of the person: a key means something for one of them only */
  token_hash: hash,
  /** SHA-256 of the key */
  key_hash: hash,
  /** SHA-256 of the request's content: another request may not have the same key */
  request_hash: hash,
  /** the hour of the request: the responses of one hour are removed together */
  hour,
  /** the board that it is about; a repetition needs access to it */
  board_id: idOf('board').nullable(),
  status: z.literal([200, 201]),
  /** the path of a created resource below /v1 */
  location: shortText.nullable(),
  /** the revision that is the ETag */
  revision: shortText.nullable(),
  /** without its long texts, if it has any */
  data: z.json() as z.ZodType<unknown>,
  /** where long texts belong, which are stored once for all responses of the hour; undefined: it has none */
  texts: z.array(responseTextPlace).readonly().optional(),
})
export type FirstResponse = Readonly<z.infer<typeof firstResponse>>

/** A long text of the first responses of an hour. Most repeat what is stored already, as the description of a card that is completed. */
export const responseText = z.strictObject({ hour, sha256: hash, text: z.string() })
export type ResponseText = Readonly<z.infer<typeof responseText>>
