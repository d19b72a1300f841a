/** The first response to a write with an Idempotency-Key. It is written in the commit of the change itself. */
export interface FirstResponse {
  /** SHA-256 of the token, in hex: a key means something for one token only */
  readonly token_hash: string
  /** SHA-256 of the key, in hex */
  readonly key_hash: string
  /** SHA-256 of what the request asked for, in hex: another request may not have the same key */
  readonly request_hash: string
  /** the hour of the request, as 2026-11-20T12: the responses of one hour are removed together */
  readonly hour: string
  /** the board that it is about, to which a repetition needs access */
  readonly board_id: string | null
  readonly status: number
  /** the path of a created resource below /v1 */
  readonly location: string | null
  /** the revision that is the ETag */
  readonly revision: string | null
  /** without its long texts, if it has any */
  readonly data: unknown
  /** where long texts belong, which are stored once for all responses of the hour; undefined: it has none */
  readonly texts?: readonly ResponseTextPlace[]
}

/** Where in the data of a response a long text belongs. */
export interface ResponseTextPlace {
  readonly path: readonly (string | number)[]
  /** of the text, in hex */
  readonly sha256: string
}

/** A long text of the first responses of an hour. Most repeat what is stored already, as the description of a card that is completed. */
export interface ResponseText {
  readonly hour: string
  /** of the text, in hex */
  readonly sha256: string
  readonly text: string
}
