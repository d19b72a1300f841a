import { DAY, MINUTE } from '../../model/time.ts'
import { dayText, distance, remaining } from '../time-texts.ts'

const zoneName = new Intl.DateTimeFormat('en', { timeZoneName: 'short' })
const two = (number: number) => String(number).padStart(2, '0')

/** To the minute, in the zone of the person, as `<input type=datetime-local>` has it. */
function localText(at: Date): string {
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`
}

function exact(at: Date): string {
  const zone = zoneName.formatToParts(at).find(({ type }) => type === 'timeZoneName')!.value
  return `${localText(at).replace('T', ' ')} ${zone}`
}

const day = (at: Date, now: number) => dayText(at.getFullYear(), at.getMonth(), at.getDate(), new Date(now).getFullYear())
/** The kinds of times that `../times.ts` renders. */
const texts: Readonly<Record<string, (at: Date, now: number) => string>> = {
  exact,
  day,
  distance: (at, now) => distance(at.getTime(), now),
  remaining: (at, now) => remaining(at.getTime(), now),
  moment: (at, now) => (Math.abs(now - at.getTime()) < 7 * DAY ? distance(Math.min(at.getTime(), now), now) : day(at, now)),
}

/**
 * Writes times in the zone of the person, with the exact one in the title, also those that are entered; without the script, they are in
 * UTC. Two versions of a page that are both written for the same `now` differ only in what has changed.
 */
export function showTimes(root: ParentNode, now: number): void {
  for (const time of root.querySelectorAll('time')) {
    const kind = Object.keys(time.dataset)[0]
    const text = kind === undefined ? undefined : texts[kind]
    if (text === undefined) continue
    const at = new Date(time.dateTime)
    const [shown, title] = [text(at, now), kind === 'exact' ? `${time.dateTime.slice(0, 16).replace('T', ' ')} UTC` : exact(at)]
    if (time.textContent !== shown) time.textContent = shown
    if (time.title !== title) time.title = title
  }
  for (const input of root.querySelectorAll<HTMLInputElement>('input[data-time]:not([data-local])')) {
    input.dataset['local'] = ''
    const at = new Date(`${input.defaultValue}Z`)
    // Text that is no time stays as it is, for the person to correct.
    if (!Number.isNaN(at.getTime())) input.defaultValue = localText(at)
  }
  for (const zone of root.querySelectorAll('[data-zone]')) zone.textContent = `(${Intl.DateTimeFormat().resolvedOptions().timeZone})`
}

/** A text with its times in UTC, to the minute, in the zone of the person. */
export function inOwnZone(message: string): string {
  return message.replaceAll(/(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC/g, (_all, date, time) => exact(new Date(`${date}T${time}Z`)))
}

/**
 * Shows the times of the page, and keeps the relative ones true. Times of all forms are sent in UTC, whether a script or the browser sends
 * them.
 */
export function keepTimes(): void {
  const show = () => showTimes(document, Date.now())
  show()
  setInterval(show, MINUTE)
  document.addEventListener('formdata', ({ target, formData }) => {
    for (const { name, value } of (target as HTMLFormElement).querySelectorAll<HTMLInputElement>('input[data-local]')) {
      const at = new Date(value)
      if (!Number.isNaN(at.getTime())) formData.set(name, at.toISOString())
    }
  })
}
