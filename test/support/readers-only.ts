import type { PolicyFiles } from '../../src/policy/engine.ts'
import { shippedFiles } from './policy.ts'

/** A policy that lets only its creator change a board and what is on it; the others with access read it. */
export function readersOnly(): PolicyFiles {
  const { permissions, operations } = shippedFiles
  const rule = /(?<=  - id: (?:P4|P8|P9|P11)\n(?:    .*\n)*?    conditions: \{ board\.access: true)(?= \}\n)/g
  const decision = /^(.*[ []P(?:4|8|9|11), .*)$/gm
  return {
    ...shippedFiles,
    permissions: { ...permissions, text: permissions.text.replace(rule, ', board.caller: creator') },
    operations: { ...operations, text: operations.text.replace(decision, (line) => line.replaceAll('access', 'creator')) },
  }
}
