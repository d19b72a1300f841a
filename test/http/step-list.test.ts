import { expect, test } from 'vitest'
import { StepList } from '../../src/http/step-list.ts'
import { authenticate, charge, decide, findOperation, takeInput } from '../../src/http/steps.ts'

test('a step takes its place only after the steps that find what it needs', () => {
  const known = new StepList().add(authenticate).add(charge).add(findOperation)
  expect(known.add(takeInput).add(decide).steps).toEqual([authenticate, charge, findOperation, takeInput, decide])

  // The compiler refuses these. The test fails to compile when it no longer does.
  // @ts-expect-error nobody is authenticated
  new StepList().add(charge)
  // @ts-expect-error the operation is unknown
  new StepList().add(authenticate).add(takeInput)
  // @ts-expect-error the input is not read
  known.add(decide)
})
