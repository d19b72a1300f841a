// Preloaded into every measured process: reports its CPU time and its memory, without garbage if it can be collected, or a CPU profile.
let session
async function profile(question) {
  if (question === 'begin') {
    const { Session } = await import('node:inspector/promises')
    session = new Session()
    session.connect()
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: 100 })
    await session.post('Profiler.start')
    return {}
  }
  const result = await session.post('Profiler.stop')
  session.disconnect()
  return result.profile
}
process.on('message', async (question) => {
  if (question === 'begin' || question === 'end') return process.send(await profile(question))
  if (question === 'memory') for (let i = 0; i < 3; i++) globalThis.gc?.()
  const { user, system } = process.cpuUsage()
  process.send({ cpu: user + system, rss: process.memoryUsage.rss() })
})
process.channel.unref()
