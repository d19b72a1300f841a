import type { Caller } from '../authz/context.ts'
import { limits } from '../model/limits.ts'
import type { RandomSource } from '../model/ids.ts'
import { isDryRun, type OperationRequest } from '../resources/operation.ts'
import { definitionsFor } from './permission.ts'
import type { Services } from './services.ts'

/** What an operation is called with, and what a question about one is decided with. */
type Given = Pick<OperationRequest, 'tx' | 'params' | 'query' | 'body'> & { readonly caller: Caller }
/** What only a request can do. */
type Abilities = Pick<OperationRequest, 'evaluate' | 'findActions' | 'findResources' | 'perform' | 'receive' | 'examine'>

/**
 * Makes the unit that an operation is called with. Requests, the operations of a batch, evaluations and the questions of operators all have
 * theirs from here: the last three change the input alone.
 * @param abilities default: it only decides
 */
export function createUnit(
  services: Pick<Services, 'engine' | 'clock' | 'random' | 'batch'>,
  { tx, caller, params, query, body }: Given,
  abilities: Abilities = DECIDES,
): OperationRequest {
  const { clock, batch = limits.batch } = services
  const random = isDryRun({ query }) ? createZeros() : services.random
  const holds = definitionsFor(services, caller)
  return { tx, caller, params, query, body, clock, random, batch, holds, ...abilities }
}

function refuse(): never {
  throw new TypeError('a unit that only decides performs nothing')
}

const DECIDES: Abilities = {
  evaluate: refuse,
  findActions: refuse,
  findResources: refuse,
  perform: refuse,
  examine: refuse,
  receive: undefined,
}

/** The random source of a dry run: no id that it gives can be taken for a real one. The first one has zeros only, and all differ. */
function createZeros(): RandomSource {
  let count = 0
  return (size) => {
    const bytes = new Uint8Array(size)
    // Each byte gives 5 bits.
    for (let rest = count++, i = size - 1; rest > 0 && i >= 0; rest >>>= 5, i--) bytes[i] = rest & 31
    return bytes
  }
}
