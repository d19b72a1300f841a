import type { ReceivedMail } from '../../support/mail-server.ts'
import type { Reader } from './fleet.ts'

/** A notice that a reader has, by the only word that its text and no other one has. */
export interface ToldWord {
  readonly word: string
  readonly reader: Reader
  /** when it was marked as mailed; undefined: never */
  readonly markedAt: string | undefined
}

/** Whether a mail has a word. Words are ASCII letters, and only a line that was broken can divide one. */
export function hasWord({ source }: ReceivedMail, word: string): boolean {
  return source.replaceAll('=\r\n', '').includes(word)
}

/**
 * What is wrong with mails: a notice in two of them, or in one to somebody else; one that was never mailed, or was marked and has not
 * arrived although no process was killed since.
 * @param lastKill when the last process was killed
 */
export function violationsOf(mails: readonly ReceivedMail[], told: readonly ToldWord[], lastKill: string): string[] {
  return told.flatMap(({ word, reader, markedAt }) => {
    const having = mails.filter((mail) => hasWord(mail, word))
    const wrong = having.filter(({ to }) => to.length !== 1 || to[0] !== reader.email)
    return [
      ...(having.length > 1 ? [`${word} is in ${having.length} mails`] : []),
      ...wrong.map(({ to }) => `${word} was sent to ${to.join()}`),
      ...(markedAt === undefined ? [`${word} was never mailed`] : []),
      ...(markedAt !== undefined && markedAt > lastKill && having.length === 0 ? [`${word} was marked and has not arrived`] : []),
    ]
  })
}
