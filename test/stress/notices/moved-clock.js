// Moves the clock of a process: it is ahead of the clock of the machine by what a file says, in milliseconds. NODE_OPTIONS loads it before
// the service. A file, because several processes move in the same moment, also while one of them starts.
import { readFileSync } from 'node:fs'

const { now } = Date
const readAhead = () => Number(readFileSync(process.env.CLOCK_FILE, 'utf8'))
let ahead = readAhead()
setInterval(() => (ahead = readAhead()), 50).unref()
Date.now = () => now() + ahead
