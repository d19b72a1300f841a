import type { Awaitable } from '../model/awaitable.ts'
import { Turn } from '../governor/turns.ts'
import type { Call } from './call.ts'
import type { Services } from './services.ts'

/** What a refusal takes, in milliseconds. */
const WORK = 0.25
/** The statuses of refusals that no token is charged for: its credential is not accepted, or its units are used up. */
const UNCHARGED: ReadonlySet<number> = new Set([401, 429])

/**
 * Passes on a response. Nobody is charged for a refusal, but a client can repeat its request as fast as it gets them: all such refusals
 * together use a fourth of the time, and further ones wait for a turn of their token, or of the network that they come from.
 */
export function inTurnOfRefusals({ turns }: Pick<Services, 'turns'>, call: Call, response: Response): Awaitable<Response> {
  if (!UNCHARGED.has(response.status)) return response
  const { isLeft } = turns.forRefusals
  turns.forRefusals.add(WORK)
  if (isLeft) return response
  const { presented, network: id } = call
  const worker = presented === undefined ? { workspaceId: '', id } : { workspaceId: presented.partition, id: presented.token.id }
  const turn = new Turn(turns, { ...worker, signal: call.signal })
  // Nobody reads the response to a client that has left.
  return turn.take().then(
    () => {
      turn.leave()
      return response
    },
    () => response,
  )
}
