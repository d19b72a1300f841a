/** One line that begins as the times of an imported card do. */
const TIMES = /^(?:Created|Completed|Archived|Last changed) \d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC.*\.$/

/** Whether a description has only the times that an import has added: nobody has described the card. */
export function hasOnlyImportedTimes(description: string): boolean {
  return description.length < 500 && TIMES.test(description)
}
