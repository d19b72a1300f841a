/**
 * The part of the script that is about tokens and times. Without it, times are in UTC, and a custom lifetime counts when it is entered.
 */
export const tokensScript = `{
const two = (number) => String(number).padStart(2, '0')
const zoned = (text) => {
  const at = new Date(text)
  const zone = new Intl.DateTimeFormat('en', { timeZoneName: 'short' }).formatToParts(at).find(({ type }) => type === 'timeZoneName').value
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-')
  return day + ' ' + two(at.getHours()) + ':' + two(at.getMinutes()) + ' ' + zone
}
for (const time of document.querySelectorAll('time[data-exact]')) {
  time.title = time.textContent
  time.textContent = zoned(time.dateTime)
}
for (const time of document.querySelectorAll('time[data-distance]')) time.title = zoned(time.dateTime)
for (const group of document.querySelectorAll('[data-lifetime]')) {
  const number = group.querySelector('[name=custom_days]')
  group.addEventListener('input', ({ target }) => {
    if (target === number) group.querySelector('[value=custom]').checked = true
  })
  group.addEventListener('change', ({ target }) => {
    if (target.type !== 'radio') return
    if (target.value === 'custom') number.focus()
    else number.value = ''
  })
}
}
`
