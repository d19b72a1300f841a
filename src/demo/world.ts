import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'
import { visibilities } from '../model/board.ts'
import { roles } from '../model/workspace.ts'

const person = z.strictObject({ key: z.string(), name: z.string(), role: z.enum(roles), left: z.boolean().default(false) })
const board = z.strictObject({
  name: z.string(),
  description: z.string(),
  cover_color: z.string(),
  creator: z.string(),
  visibility: z.enum(visibilities).default('workspace'),
  members: z.array(z.string()).default([]),
})
const world = z.strictObject({
  workspaces: z.array(z.strictObject({ key: z.string(), name: z.string(), people: z.array(person), boards: z.array(board) })),
})

/** The demo world as `fixtures/world.yaml` tells it. */
export type World = z.infer<typeof world>

/** Reads the demo world that ships with the service. */
export function readWorld(): World {
  return world.parse(parse(readFileSync(new URL('../../fixtures/world.yaml', import.meta.url), 'utf8')))
}
