// Preloaded into every measured server: reports the CPU time and the memory of its process when it is asked.
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send({ cpu: user + system, rss: process.memoryUsage.rss() })
})
process.channel.unref()
