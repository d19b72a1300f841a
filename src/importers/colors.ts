/** The color of a label whose color is unknown. */
export const GRAY = '#6b778c'

/** The colors of Trello's labels by name. Each also has the variants `_light` and `_dark`. */
const trello: ReadonlyMap<string, string> = new Map([
  ['green', '#61bd4f'],
  ['yellow', '#f2d600'],
  ['orange', '#ff9f1a'],
  ['red', '#eb5a46'],
  ['purple', '#c377e0'],
  ['blue', '#0079bf'],
  ['sky', '#00c2e0'],
  ['lime', '#51e898'],
  ['pink', '#ff78cb'],
  ['black', '#344563'],
])

/** The colors of Planka's labels by name. */
const planka: ReadonlyMap<string, string> = new Map(
  `muddy-grey #69655a, autumn-leafs #c9b037, morning-sky #52b9d5, antique-blue #6c99bb, egg-yellow #f9c423, desert-sand #fad371,
  dark-granite #8b8680, fresh-salad #ced85e, lagoon-blue #109dc0, midnight-blue #0a63a0, light-orange #fdae5f, pumpkin-orange #ed9223,
  light-concrete #afb0a4, sunny-grass #beca02, navy-blue #1d7299, lilac-eyes #406cbd, apricot-red #fc736c, orange-peel #de692f,
  silver-glint #adadad, bright-moss #96b352, deep-ocean #004c70, summer-sky #5d9cec, berry-red #e83855, light-cocoa #a85540,
  grey-stone #aab2bd, tank-green #8aa177, coral-green #2b6a6c, sugar-plum #7e86c7, pink-tulip #e34f7c, shady-rust #87564a,
  wet-rock #83949b, wet-moss #4a8753, turquoise-sea #00858a, lavender-fields #b287bd, piggy-red #f97394, light-mud #c7a57a,
  gun-metal #4f6573, modern-green #77ce87, french-coast #00b4b1, sweet-lilac #975298, red-burgundy #ad5f7d, pirate-gold #b47e11`
    .split(/,\s+/)
    .map((entry) => entry.split(' ') as [string, string]),
)

/**
 * The color of a label of Trello.
 * @returns undefined if the name is unknown; a label without a color is gray
 */
export function trelloColor(name: string | null): string | undefined {
  if (name === null || name === '') return GRAY
  const [base = '', variant] = name.split('_')
  const color = trello.get(base)
  if (color === undefined || variant === undefined) return color
  if (variant === 'light') return mix(color, 255, 0.5)
  return variant === 'dark' ? mix(color, 0, 0.3) : undefined
}

/**
 * The color of a label of Planka.
 * @returns undefined if the name is unknown
 */
export function plankaColor(name: string): string | undefined {
  return planka.get(name)
}

/** Mixes a color with white (255) or black (0). */
function mix(color: string, other: number, share: number): string {
  const parts = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
  const mixed = parts.map((part) => Math.round(part + (other - part) * share))
  return `#${mixed.map((part) => part.toString(16).padStart(2, '0')).join('')}`
}
