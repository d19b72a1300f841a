import type { VNode } from 'preact'
import type { Claim } from '../../model/claim.ts'
import { authorsOf } from '../boards/authors.ts'
import { html } from '../html.ts'
import type { Reader } from '../reader.ts'

/** A claim that a change would end, and what its person is asked first. */
export interface AskedClaim extends Pick<Claim, 'epoch'> {
  readonly text: string
  /** the same for a page */
  readonly shown: VNode
}

/** Operations that take a card away from the agent that has claimed it. */
export const TAKES_CARD = /^(?:cards\.(?:update|move|complete|archive|delete)|claims\.release)$/

/** What a person is asked before a claim of somebody else ends. */
export async function askAbout(reader: Reader, { holder_id, token_id, token_name, epoch, expires_at }: Claim): Promise<AskedClaim> {
  const [holder = ''] = await authorsOf(reader, [{ actor_id: holder_id, token_id, token_name }])
  const said = ` has claimed this card until ${expires_at.slice(0, 16).replace('T', ' ')} UTC, and may be at work on it.`
  return { epoch, text: holder + said, shown: html`<bdi>${holder}</bdi>${said}` }
}
