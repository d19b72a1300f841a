import type { z } from 'zod'
import type { cardWithCounts } from '../resources/cards/schema.ts'

/** What a tile shows in addition to the card. */
export const TILE_PARTS = 'counts,claim,work'

/** A card as pages list it: with its {@link TILE_PARTS}. */
export type ListedCard = Readonly<z.infer<typeof cardWithCounts>>
