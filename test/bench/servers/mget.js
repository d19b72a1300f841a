// node:http and one MGET for each request, with the keys in the query. It is the lower bound of what a read costs in Redis.
import { createServer } from 'node:http'
import { Redis } from 'ioredis'

const redis = new Redis(process.argv[2])
const server = createServer(async (request, response) => {
  const values = await redis.mget(request.url.slice('/?'.length).split(','))
  response.end(String(values.length))
})
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }))
