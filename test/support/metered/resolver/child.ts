/** Both listeners in a separate process, for calls to an API in the test's process. Started by `../meter.ts`. */
import { startTestApp } from '../../app.ts'
import type { Question } from '../meter.ts'
import { readCost, startProbe, threadMs } from '../probe.ts'

const app = await startTestApp(JSON.parse(process.env.METERED_ENV ?? '{}'))

process.on('message', async (question: Question) => {
  if (question === 'cost') process.send?.({ cost: readCost() })
  if (question === 'stall') {
    const until = threadMs() + 300
    while (threadMs() < until);
    process.send?.({})
  }
  if (question === 'stop') {
    await app.stop()
    process.exit(0)
  }
})

startProbe()
process.send?.({ origins: { controlPlane: app.controlPlane, resolver: app.resolver } })
