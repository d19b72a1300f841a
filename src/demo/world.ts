import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { visibilities } from '../model/board.ts'
import { fileVisibilities } from '../model/file.ts'
import { packageFile } from '../model/package-files.ts'
import { roles } from '../model/workspace.ts'
import { readSource } from '../policy/source.ts'

const person = z.strictObject({ key: z.string(), name: z.string(), role: z.enum(roles), left: z.boolean().default(false) })
const card = z.strictObject({
  in: z.string(),
  title: z.string(),
  description: z.string().optional(),
  labels: z.array(z.string()).default([]),
  assignees: z.array(z.string()).default([]),
  /** in days after the data is created */
  due: z.number().optional(),
  done: z.boolean().default(false),
  archived: z.boolean().default(false),
  subtasks: z.array(z.strictObject({ title: z.string(), done: z.boolean().default(false) })).default([]),
  comments: z.array(z.strictObject({ by: z.string(), body: z.string() })).default([]),
  attachments: z
    .array(
      z.strictObject({
        by: z.string(),
        name: z.string(),
        type: z.string(),
        /** what it contains: one of both */
        text: z.string().optional(),
        base64: z.string().optional(),
        visibility: z.enum(fileVisibilities).default('board'),
      }),
    )
    .default([]),
  /** the name of one of the card's attachments */
  cover: z.string().optional(),
})
const board = z.strictObject({
  name: z.string(),
  description: z.string(),
  cover_color: z.string(),
  creator: z.string(),
  visibility: z.enum(visibilities).default('workspace'),
  members: z.array(z.string()).default([]),
  columns: z.array(z.string()),
  archived_columns: z.array(z.string()).default([]),
  /** which of its columns complete their cards */
  completing_columns: z.array(z.string()).default([]),
  /** name → color */
  labels: z.record(z.string(), z.string()).default({}),
  cards: z.array(card),
})
const world = z.strictObject({
  workspaces: z.array(z.strictObject({ key: z.string(), name: z.string(), people: z.array(person), boards: z.array(board) })),
})

/** The demo data, as described in `fixtures/world.yaml`. */
export type World = z.infer<typeof world>
export type WorldBoard = z.infer<typeof board>
export type WorldCard = z.infer<typeof card>

/** Reads `fixtures/world.yaml`. */
export function readWorld(): World {
  const path = 'fixtures/world.yaml'
  return world.parse(readSource({ path, text: readFileSync(packageFile(path), 'utf8') }).data)
}
