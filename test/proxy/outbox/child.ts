/**
 * A proxy from the view of the outbox, for its tests: `bun child.ts DIRECTORY COUNT WIDTH`. It records COUNT
 * requests, WIDTH at a time, and prints a line for each record that the outbox acknowledged.
 */
import { writeSync } from 'node:fs'
import { CallRecord } from '../../../src/outbound/record.ts'
import { Outbox } from '../../../src/proxy/outbox/outbox.ts'
import { auditRecordOf } from '../../../src/proxy/record.ts'

const [, , directory = '', count = '', width = ''] = process.argv
const owner = { server: 'http://one', email: 'ada@x.example', workspace_id: 'w', agent: null }
const outbox = new Outbox(directory, owner)
const scope = { projectId: '0190f6a0-0000-7000-8000-000000000000', environment: 'development' }
const origin = { host: 'api.example.com', method: 'GET', ...scope }
let left = Number(count)

await Promise.all(Array.from({ length: Number(width) }, work))
outbox.close()

async function work(): Promise<void> {
  while (left-- > 0) {
    const id = Bun.randomUUIDv7()
    const record = new CallRecord({ id, ...scope })
    const { end } = await outbox.begin(auditRecordOf(record, origin, null))
    writeSync(1, `begun ${id}\n`)
    await end(auditRecordOf(record, origin, record.outcome(200, false)))
    writeSync(1, `ended ${id}\n`)
  }
}
