// node:http and a file: it writes a body to a file, with SHA-256 and fsync, and sends it. It is the lower bound of what a file costs.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer } from 'node:http'

const path = `${process.argv[2]}/file`
const server = createServer(async (request, response) => {
  if (request.method === 'GET') return void createReadStream(path).pipe(response)
  const file = await open(path, 'w')
  const hash = createHash('sha256')
  for await (const part of request) {
    hash.update(part)
    await file.write(part)
  }
  await file.sync()
  await file.close()
  response.end(JSON.stringify({ data: { id: '', sha256: hash.digest('hex') } }))
})
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }))
