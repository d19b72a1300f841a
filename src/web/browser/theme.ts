/** Runs before the report is shown: it must not change its colours afterwards. */
const { classList, dataset } = document.documentElement
classList.add('has-js')
try {
  const theme = localStorage.getItem('lanekeeper-theme')
  if (theme !== null) dataset['theme'] = theme
} catch {
  // Without a storage, the theme is that of the system.
}
