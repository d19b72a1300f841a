/**
 * Every limit of the service, in one place. Lengths count UTF-16 code units, as JSON and JavaScript do.
 * What the input alone tells is answered 422; what depends on what is stored, 409.
 */
export const limits = {
  /** bytes of a JSON body */
  jsonBytes: 256 * 1024,
  /** levels of nesting in a JSON body */
  jsonDepth: 16,
  /** items of a page */
  pageSize: { default: 50, max: 100 },
  /** characters of a bearer token, before anything else is looked at */
  tokenLength: 255,
  workspaceName: 100,
  displayName: 100,
  boardName: 200,
  boardDescription: 10_000,
} as const
