// node:http alone, with the bodies that the service would send. It is the lower bound of what a request costs.
import { createServer } from 'node:http'
import { bodies } from './bodies.js'

const texts = new Map(Object.entries(bodies).map(([path, body]) => [path, JSON.stringify(body)]))
const server = createServer((request, response) => {
  const text = texts.get(request.url)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
})
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }))
