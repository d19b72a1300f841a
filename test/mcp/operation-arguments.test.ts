import { expect, test, vi } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { readOperation } from '../../src/mcp/operation-arguments.ts'
import { ToolList } from '../../src/mcp/tool-list.ts'
import { operations } from '../../src/resources/table.ts'
import { engine } from '../support/service.ts'

test('of thousands of wrong arguments, all are counted, and suggestions are looked for among the first hundred', () => {
  const callable = new ToolList(() => engine, operations).callableOf('boards.read')!
  const given = Array.from({ length: 5000 }, (_, i) => [`wrong_${i}`, 1] as const)
  const foreign = vi.fn(() => 'is wrong')
  const read = readOperation(callable, given, { userId: '', valueOf: () => undefined, foreign, assumed: {} })
  expect(foreign).toHaveBeenCalledTimes(limits.issues)
  expect(read.issues).toHaveLength(5001)
  expect(read.further()).toEqual([])
})
