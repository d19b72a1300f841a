/** A text, and whether only those hear it who do not see the page. */
export type TextPart = readonly [text: string, isUnseen: boolean]

/**
 * Whether a column has more cards than it may have.
 * @param limit null: it may have any number
 */
export function isOver(count: number, limit: number | null): boolean {
  return limit !== null && count > limit
}

/**
 * How many cards a column shows, and how many it may have.
 * @param hasMore whether there are others that it does not show
 */
export function countTexts(count: number, limit: number | null, hasMore: boolean): readonly TextPart[] {
  return [
    [`${count}${hasMore ? '+' : ''}`, false],
    [' cards', true],
    ...(limit === null ? [] : [[` · limit ${limit}`, false] as const]),
    ...(isOver(count, limit) ? [[', which is exceeded', true] as const] : []),
  ]
}

/**
 * How many questions wait for an answer of the person.
 * @param hasMore whether there are others, which are not counted
 */
export function questionTexts(count: number, hasMore: boolean): readonly TextPart[] {
  if (count === 0) return []
  return [
    [`${count}${hasMore ? '+' : ''}`, false],
    [count === 1 ? ' question waits for your answer' : ' questions wait for your answer', true],
  ]
}

/** How many cards of a board match its filters. */
export function foundText(count: number, hasMore: boolean): string {
  return `${count}${hasMore ? ' or more' : ''} ${count === 1 ? 'card matches' : 'cards match'}. `
}
