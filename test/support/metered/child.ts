/** The whole application in its own process, which reports the cost of requests. Started by `meter.ts`. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listAllEndpoints } from '../../../src/dev/all_endpoints.ts'
import { upsertSecrets } from '../../../src/features/secrets/contract.ts'
import { prepareRekey } from '../../features/workspaces/rekeying.ts'
import { buildWorld, type World } from '../../security/matrix_world.ts'
import { startTestApp, type TestApp } from '../app.ts'
import { openProject } from '../project.ts'
import type { Question, RekeyOrder } from './meter.ts'
import { CRON_SECRET, makeOrder, type Order } from './order.ts'
import { readCost, startProbe } from './probe.ts'

let app: TestApp
let world: World

/** A valid request to each endpoint with a body; the test makes it hostile. */
async function makeOrders(): Promise<Order[]> {
  const orders: Order[] = []
  for (const { surface, endpoints } of listAllEndpoints()) {
    for (const endpoint of endpoints) {
      if (endpoint.body) orders.push(await makeOrder({ endpoint, surface }, world))
    }
  }
  return orders
}

/** A workspace with the given number of secrets, each of the given size, and its rekey, in a file because it is large. */
async function makeRekey({ count, bytes }: RekeyOrder): Promise<Order> {
  const team = await openProject(app)
  const { workspaceId, projectId, owner } = team
  const keys = Array.from({ length: count }, (_, index) => `KEY_${index}`)
  const text = 'x'.repeat(bytes)
  const perCall = Math.max(1, Math.min(500, Math.floor(2_500_000 / bytes)))
  for (let at = 0; at < count; at += perCall) {
    const secrets = keys
      .slice(at, at + perCall)
      .map((key) => ({ key, value: team.seal(key, text) }))
    await owner.api.call(upsertSecrets, { body: { project_id: projectId, secrets } })
  }
  const { body } = await prepareRekey(team, ['development'])
  const file = join(mkdtempSync(join(tmpdir(), 'cr-rekey-')), 'body.json')
  await Bun.write(file, JSON.stringify(body))
  const url = `${app.controlPlane}/api/workspaces/${workspaceId}/rekey/`
  const limit = 32 * 1_048_576
  return { name: 'a rekey', method: 'POST', url, token: owner.token, body: file, limit }
}

process.on('message', async (question: Question) => {
  if (question === 'cost') process.send?.({ cost: readCost() })
  if (typeof question === 'object') process.send?.({ orders: [await makeRekey(question)] })
  if (question === 'stop') {
    await app.stop()
    process.exit(0)
  }
})

const plenty = '1000000/1'
app = await startTestApp({
  RATE_REGISTER: plenty,
  RATE_LOGIN: plenty,
  RATE_API: plenty,
  RATE_TOKEN: plenty,
  CRON_SECRET,
})
world = await buildWorld(app, { isStaffed: false })
const orders = await makeOrders()
startProbe()
process.send?.({
  orders,
  neighbour: {
    url: `${app.controlPlane}/api/users/me/`,
    token: (await buildWorld(app, { isStaffed: false })).person.owner.token,
  },
})
