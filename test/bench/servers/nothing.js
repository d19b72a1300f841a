// A process that only starts.
process.send({ url: '' })
process.channel.ref()
