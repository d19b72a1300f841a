/** What costs one unit more: so many questions, characters of examined cards, bytes of an answer. */
const UNIT_QUESTIONS = 4
const UNIT_CHARACTERS = 512 * 1024
const UNIT_BYTES = 64 * 1024

/** What a request costs, in units of about a millisecond (api: Contract 3, number 9). Most requests cost 1. */
export class Cost {
  /** operations of a batch */
  operations = 1
  /** questions of an evaluation */
  questions = 0
  /** of the cards that a search has examined, in characters */
  examined = 0
  /** of the body of the answer, unless it is a file */
  bytes = 0

  /** What is known before the work is done, in units. */
  get stated(): number {
    return Math.max(this.operations, Math.ceil(this.questions / UNIT_QUESTIONS))
  }

  get units(): number {
    return this.stated + Math.floor(this.examined / UNIT_CHARACTERS) + Math.floor(this.bytes / UNIT_BYTES)
  }
}
