// h3 without authentication, authorization and storage: it parses and validates the same input, and sends the same bodies.
import { createServer } from 'node:http'
import { H3 } from 'h3'
import { toNodeHandler } from 'h3/node'
import { z } from 'zod'
import { bodies } from './bodies.js'

const title = z.string().trim().min(1).max(500)
const description = z.string().max(50_000)
const due = z.iso.datetime({ offset: true }).nullable()
const update = z.strictObject({ title: title.optional(), description: description.optional(), due_at: due.optional() })
const create = z.strictObject({ column_id: z.string(), title, description: description.default(''), due_at: due.default(null) })
const card = bodies['/card'].data

const app = new H3()
for (const [path, body] of Object.entries(bodies)) app.get(path, () => body)
app.patch('/card', async (event) => ({ data: { ...card, ...update.parse(await event.req.json()) } }))
app.post('/card', async (event) => ({ data: { ...card, ...create.parse(await event.req.json()) } }))
const server = createServer(toNodeHandler(app))
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }))
