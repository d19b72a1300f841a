/** Something that can be chosen for a card: what the script sends if it is. */
export interface CardChoice {
  readonly text: string
  /** of a label */
  readonly color?: string
  /** whether the card has it */
  readonly isChosen: boolean
  readonly operation: string
  readonly fields: Readonly<Record<string, string>>
}

/** What there is to choose from. */
export interface CardChoices {
  readonly choices: readonly CardChoice[]
  /** the board that the person may make another label for */
  readonly boardOfNewLabels?: string
}
