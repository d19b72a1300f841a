import { DAY, MINUTE } from '../../model/time.ts'
import { dayText, distance } from '../time-texts.ts'

const zoneName = new Intl.DateTimeFormat('en', { timeZoneName: 'short' })
const two = (number: number) => String(number).padStart(2, '0')

/** To the minute, in the zone of the person. */
function exact(at: Date): string {
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-')
  const zone = zoneName.formatToParts(at).find(({ type }) => type === 'timeZoneName')!.value
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())} ${zone}`
}

const day = (at: Date, now: number) => dayText(at.getFullYear(), at.getMonth(), at.getDate(), new Date(now).getFullYear())
/** The kinds of times that `../times.ts` renders. */
const texts: Readonly<Record<string, (at: Date, now: number) => string>> = {
  exact,
  day,
  distance: (at, now) => distance(at.getTime(), now),
  moment: (at, now) => (Math.abs(now - at.getTime()) < 7 * DAY ? distance(Math.min(at.getTime(), now), now) : day(at, now)),
}

/**
 * Writes times in the zone of the person, with the exact one in the title; without the script, they are in UTC. Two versions of a page
 * that are both written for the same `now` differ only in what has changed.
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
}

/** Shows the times of the page, and keeps the relative ones true. */
export function keepTimes(): void {
  const show = () => showTimes(document, Date.now())
  show()
  setInterval(show, MINUTE)
}
