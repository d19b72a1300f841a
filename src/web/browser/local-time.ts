/** Times that are entered: shown in the zone of the person, and sent in UTC. Without the script, they are in UTC. */

const two = (number: number) => String(number).padStart(2, '0')

/** A time as `<input type=datetime-local>` has it, in the zone of the person. */
function localText(at: Date): string {
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`
}

/** Shows the times of a part of a page, or of one that is not shown yet, in the zone of the person. */
export function showLocalTimes(part: ParentNode): void {
  for (const input of part.querySelectorAll<HTMLInputElement>('input[data-time]:not([data-local])')) {
    input.dataset['local'] = ''
    const at = new Date(`${input.defaultValue}Z`)
    // What is no time stays as it is, for the person to correct.
    if (!Number.isNaN(at.getTime())) input.defaultValue = localText(at)
  }
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  for (const zone of part.querySelectorAll('[data-zone]')) zone.textContent = `(${timeZone})`
}

/** Sends the times of all forms in UTC, whether a script or the browser sends them. */
export function sendTimesInUtc(): void {
  document.addEventListener('formdata', ({ target, formData }) => {
    for (const { name, value } of (target as HTMLFormElement).querySelectorAll<HTMLInputElement>('input[data-local]')) {
      const at = new Date(value)
      if (!Number.isNaN(at.getTime())) formData.set(name, at.toISOString())
    }
  })
}
