import { hasAtMost, withoutInvisible } from '../model/text.ts'
import type { ImportReport } from './report.ts'

/** Fits texts to the limits, and reports what this changes. */
export class TextFitter {
  readonly #report: ImportReport

  constructor(report: ImportReport) {
    this.#report = report
  }

  /**
   * One line of up to `max` characters.
   * @param where names the text in the report
   * @param fallback if the text has no visible character
   */
  line(text: string, max: number, where: string, fallback: string): string {
    const clean = this.#clean(text, /\p{Cc}/gu, ' ', where).trim()
    if (/[^\s\p{Cf}]/u.test(clean)) return this.#cut(clean, max, where).trimEnd()
    this.#report.add('texts_blank', where)
    return fallback
  }

  /** A name of up to `max` characters: a line without invisible ones. */
  name(text: string, max: number, where: string, fallback: string): string {
    const visible = withoutInvisible(text)
    if (visible !== text) this.#report.add('characters_replaced', where)
    return this.line(visible, max, where, fallback)
  }

  /** Text of several lines with up to `max` characters. */
  prose(text: string, max: number, where: string): string {
    return this.#cut(this.#clean(text, /(?![\t\n\r])\p{Cc}/gu, '', where), max, where)
  }

  #clean(text: string, refused: RegExp, replacement: string, where: string): string {
    const clean = text.toWellFormed().replace(refused, replacement)
    if (clean !== text) this.#report.add('characters_replaced', where)
    return clean
  }

  #cut(text: string, max: number, where: string): string {
    if (hasAtMost(max, text.slice(0, 2 * max + 1))) return text
    this.#report.add('texts_shortened', where)
    // A character has up to two code units.
    return Array.from(text.slice(0, 2 * max))
      .slice(0, max)
      .join('')
      .toWellFormed()
  }
}
