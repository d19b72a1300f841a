import { UNIT_BYTES } from '../governor/cost.ts'
import { Turn, type Worker } from '../governor/turns.ts'
import { clientSignal } from '../http/answered.ts'
import { networkOf } from '../http/client-address.ts'
import type { Services } from '../http/services.ts'
import type { ServerRequest } from 'srvx'

/** What a page works for: a workspace of a person, or nobody. */
class PageWorker implements Worker {
  readonly workspaceId: string
  readonly id: string
  readonly #request: ServerRequest
  #signal: AbortSignal | undefined

  constructor(workspaceId: string, id: string, request: ServerRequest) {
    this.workspaceId = workspaceId
    this.id = id
    this.#request = request
  }

  get signal(): AbortSignal {
    return (this.#signal ??= clientSignal(this.#request))
  }
}

/** What a page of a person costs, and the turn of all its work: its reads are calls, which count nothing themselves. */
export class PageWork {
  readonly turn: Turn
  readonly #turns: Services['turns']
  /** of its reads, in units */
  read = 0
  /** of its own text */
  bytes = 0

  /** @param workspaceId that the page is in; undefined: none */
  constructor({ turns }: Services, userId: string, workspaceId: string | undefined, request: ServerRequest) {
    this.#turns = turns
    this.turn = new Turn(turns, new PageWorker(workspaceId ?? '', userId, request))
  }

  /** The turn of a stream: it goes on when the turn of its page has ended. */
  turnOfStream(): Turn {
    return new Turn(this.#turns, this.turn.worker)
  }

  /** in units, beyond the one that each page costs */
  get units(): number {
    return Math.max(this.read - 1, 0) + Math.floor(this.bytes / UNIT_BYTES)
  }
}

/**
 * Makes a page for somebody who is not signed in. Each takes little time, but anybody can open as many as they like: all of them together
 * use a fourth of the time without a turn.
 * @param address of the client: its network has one turn at a time
 */
export async function inTurnOfVisitors<Made>(
  { turns }: Pick<Services, 'turns'>,
  { request, address }: { readonly request: ServerRequest; readonly address: string | undefined },
  make: () => Made | Promise<Made>,
): Promise<Made> {
  const turn = new Turn(turns, new PageWorker('', networkOf(address), request))
  try {
    if (!turns.forVisitors.isLeft) await turn.take()
    const began = turns.now()
    try {
      return await make()
    } finally {
      turns.forVisitors.add(turns.now() - began)
    }
  } finally {
    turn.leave()
  }
}
