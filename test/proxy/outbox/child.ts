/**
 * A proxy as the outbox sees it, for its tests: `bun child.ts DIRECTORY COUNT WIDTH`. It records
 * COUNT requests, WIDTH at a time, and prints a line for each record that the outbox acknowledged.
 */
import { writeSync } from 'node:fs'
import { Outbox } from '../../../src/proxy/outbox.ts'
import { RecordBook } from '../../../src/proxy/record.ts'

const [, , directory = '', count = '', width = ''] = process.argv
const owner = { server: 'http://one', email: 'ada@x.example', workspace_id: 'w', agent: null }
const outbox = new Outbox(directory, owner)
let left = Number(count)

await Promise.all(Array.from({ length: Number(width) }, work))
outbox.close()

async function work(): Promise<void> {
  while (left-- > 0) {
    const id = Bun.randomUUIDv7()
    const record = new RecordBook({
      id,
      method: 'GET',
      host: 'api.example.com',
      projectId: '0190f6a0-0000-7000-8000-000000000000',
      environment: 'development',
    })
    const { end } = await outbox.begin(record.intent())
    writeSync(1, `begun ${id}\n`)
    await end(record.outcome(200, false))
    writeSync(1, `ended ${id}\n`)
  }
}
