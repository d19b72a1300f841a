/** A CPU profile of V8, as far as it is needed here. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[]
  /** the ids of nodes, in the order in which they were seen */
  readonly samples: readonly number[]
  /** microseconds between samples */
  readonly timeDeltas: readonly number[]
}

interface ProfileNode {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string }
  readonly children?: readonly number[]
}

/** The part of a path → the stage to which its time belongs. The first one that matches counts. */
const RULES: readonly (readonly [pattern: RegExp, stage: string])[] = [
  [/node_modules\/(h3|srvx|rou3)\//, 'h3 and srvx, with the write of the response'],
  [/dist\/(listener\/|http\/(request-target|client-address|answered)\.js)/, 'limits of connections'],
  [/dist\/(auth\/|http\/principal)/, 'token: parsing, CRC, SHA-256, lifecycle'],
  [/dist\/governor|dist\/store\/counters/, 'rate limits'],
  [/dist\/(policy|authz)\/|dist\/http\/permission|@casl|@ucast/, 'both decisions'],
  [/dist\/store\/|dist\/http\/prefetch|unstorage|dist\/resources\/targets/, 'store and transaction'],
  [/dist\/http\/(input|body|json|fields|body-members)\.js|\/zod\//, 'input'],
  [/dist\/http\/(envelope|json-body|render|compression|content-coding)/, 'envelope and JSON'],
  [/dist\/(resources|listing|model)\//, 'operation'],
  [/dist\//, 'pipeline, metrics and records'],
]
const NODE = 'Node.js: HTTP, event loop'
const GARBAGE = "V8's garbage collection"

/** All stages, in the order of the table. */
export const STAGES: readonly string[] = [NODE, ...RULES.map(([, stage]) => stage), GARBAGE]

/**
 * Divides the CPU time of a request among the stages, by the samples of a profile. A sample belongs to the innermost function that is
 * not of Node.js itself.
 * @param cpu of one request, in microseconds
 */
export function stagesOf({ nodes, samples, timeDeltas }: CpuProfile, cpu: number): Record<string, number> {
  const stageById = new Map<number, string | undefined>()
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const visit = ({ id, callFrame, children = [] }: ProfileNode, outer: string | undefined): void => {
    const stage = stageOf(callFrame) ?? outer
    stageById.set(id, callFrame.functionName === '(idle)' ? undefined : (stage ?? NODE))
    for (const child of children) visit(byId.get(child)!, stage)
  }
  visit(nodes[0]!, undefined)
  const times = Object.fromEntries(STAGES.map((stage) => [stage, 0]))
  let total = 0
  for (const [i, id] of samples.entries()) {
    const stage = stageById.get(id)
    if (stage === undefined) continue
    times[stage]! += timeDeltas[i]!
    total += timeDeltas[i]!
  }
  return Object.fromEntries(STAGES.map((stage) => [stage, (times[stage]! / total) * cpu]))
}

function stageOf({ functionName, url }: ProfileNode['callFrame']): string | undefined {
  if (functionName === '(garbage collector)') return GARBAGE
  if (url === '' || url.startsWith('node:')) return undefined
  return RULES.find(([pattern]) => pattern.test(url))?.[1]
}
