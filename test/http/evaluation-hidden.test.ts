import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { questionOf } from '../support/evaluations.ts'
import { memory } from '../support/memory.ts'
import { handWrittenOperations } from '../support/hand-written-decisions.ts'
import { buildWorld, createScenario, exampleBody, type Facts, type World } from '../support/scenario.ts'
import { bytes, Service } from '../support/service.ts'

const ABSENT = 'brd_00000000000000000000'

let service: Service
let world: World
let foreign: string
beforeAll(async () => {
  service = await Service.start(memory)
  world = await buildWorld(service)
  const stranger = await service.person(await service.workspace('Other'), 'owner', 'Stranger')
  foreign = (await TestBoard.create(service, stranger)).id
})
afterAll(() => service.stop())

const ask = (token: string, body: unknown) => service.send(token, 'POST', '/access/evaluation', body)

describe('the evaluation of an operation on a resource without access', () => {
  /** Facts with which the caller has no access to the board. */
  const HIDDEN: Facts = { 'caller.role': 'owner', 'caller.membership': 'active', 'board.visibility': 'private', 'board.caller': 'none' }
  const withParameter = handWrittenOperations.filter(({ path }) => path.includes('{'))

  test.each(withParameter.map((operation) => [operation.id, operation] as const))(
    '%s answers a hidden, an absent, a foreign and a malformed one byte for byte alike',
    async (id, operation) => {
      const scenario = (await createScenario(world, HIDDEN, { related: operation.method === 'DELETE' }))!
      const first = /\{(\w+)\}/.exec(operation.path)![1]!
      const replies: string[] = []
      const others = [ABSENT.replace('brd', scenario.params[first]!.slice(0, 3)), foreignId(first), 'x', '', '../boards']
      // A file has no board. One of another workspace is absent.
      for (const named of first === 'file_id' ? others : [scenario.params[first]!, ...others]) {
        const question = questionOf(operation, { ...scenario.params, [first]: named }, exampleBody(id, scenario) as object)
        replies.push(bytes(await ask(scenario.caller.admin, question)))
      }
      expect(new Set(replies).size).toBe(1)
      expect(replies[0]).toContain('not_found')
    },
  )
  const foreignId = (parameter: string): string => (parameter === 'board_id' ? foreign : 'not an id')
})
