// Moves the clock of a process: it is ahead of the clock of the machine, in milliseconds. NODE_OPTIONS loads it before the service.
const { now } = Date
const ahead = Number(process.env.CLOCK_AHEAD)
Date.now = () => now() + ahead
