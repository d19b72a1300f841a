/** What costs one unit more: so many bytes that are sent or received. */
export const UNIT_BYTES = 64 * 1024
/** The same for questions, characters of examined cards, values in a JSON body and pieces of a body. */
const UNIT_QUESTIONS = 4
const UNIT_CHARACTERS = 512 * 1024
const UNIT_VALUES = 1000
const UNIT_PIECES = 256
/** The same for notices. */
const UNIT_NOTICES = 4

const MIB = 1024 * 1024
/** The bytes that a token uploads in a minute for free, and the cost of each further MiB: it is hashed, written and synced. */
const FREE_MIB = 10
const UNITS_OF_MIB = 4

/**
 * What the files that a token has uploaded in a minute cost, in units.
 * @param bytes of all of them
 */
export function unitsOfUploads(bytes: number): number {
  return Math.max(0, Math.ceil(bytes / MIB) - FREE_MIB) * UNITS_OF_MIB
}

/** What a request costs, in units of about a millisecond (src/http/limits.md, "What a request costs"). Most requests cost 1. */
export class Cost {
  /** operations of a batch */
  operations = 1
  /** questions of an evaluation */
  questions = 0
  /** of the cards that a search has examined, in characters */
  examined = 0
  /** of the JSON of its body, in bytes, and the members and items in it */
  received = 0
  values = 0
  /** that its body came in */
  pieces = 0
  /** of the body of the answer, unless it is a file */
  bytes = 0
  /** notices that it has caused */
  notices = 0
  /** of the file that it has stored: uploads are counted for a minute (`unitsOfUploads`) */
  uploaded = 0

  /** Sets what the JSON of its body weighs. */
  weigh(received: number, values: number, pieces: number): void {
    Object.assign(this, { received, values, pieces })
  }

  /** What is known before the work is done, in units. */
  get stated(): number {
    return Math.max(this.operations, Math.ceil(this.questions / UNIT_QUESTIONS))
  }

  get units(): number {
    const body = Math.floor(this.received / UNIT_BYTES) + Math.floor(this.values / UNIT_VALUES) + Math.floor(this.pieces / UNIT_PIECES)
    const done = Math.floor(this.examined / UNIT_CHARACTERS) + Math.floor(this.bytes / UNIT_BYTES) + Math.floor(this.notices / UNIT_NOTICES)
    return Math.max(this.stated, 1 + body) + done
  }
}
