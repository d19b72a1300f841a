// What has a meaning in the Markdown of people, shared by pages and by mentions. No pattern has two ways to match a text: the time grows
// with the length alone.

/** A line that begins or ends code. */
export const FENCE = /^```/
/** Code, strong and emphasized text, links and addresses in a line. */
export const INLINE =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\s][^*\n]*)\*|\[([^[\]\n]{1,500})\]\((https?:\/\/[^\s()<>"]{1,2000})\)|(https?:\/\/[^\s<>"()]{1,2000}[^\s<>"().,;:!?'])/g
/** Lines of code, from one fence to the next or to the end. */
const FENCED = /(?<![^\n])```[^\n]*(?:\n(?!```)[^\n]*)*(?:\n```[^\n]*)?/g

/** A text with spaces in the place of its code and addresses, where names and ids are only text. What is left stays in its place. */
export function withoutCode(text: string): string {
  return text.replace(FENCED, blank).replace(INLINE, (whole: string, ...[code, , , label, , address]: (string | undefined)[]) => {
    if (code !== undefined || address !== undefined) return blank(whole)
    // Of a link, the label is text.
    return label === undefined ? whole : whole.slice(0, label.length + 2).padEnd(whole.length)
  })
}

const blank = ({ length }: string): string => ' '.repeat(length)
