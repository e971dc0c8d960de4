// tier: quick
/** The agent in whose name audit records are sent, and the records of a removed agent. */
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiError, openApi } from '../../src/client/http/api.ts'
import { CallRecord } from '../../src/outbound/record.ts'
import { OutboxDelivery } from '../../src/proxy/outbox/delivery.ts'
import { Outbox } from '../../src/proxy/outbox/outbox.ts'
import { openUpload } from '../../src/proxy/outbox/upload.ts'
import { auditRecordOf } from '../../src/proxy/record.ts'

const directory = mkdtempSync(join(tmpdir(), 'cr-upload-'))
const live = new Set<string>()
const taken: string[] = []
const server = Bun.serve({
  port: 0,
  fetch: async (request) => {
    const bearer = request.headers.get('authorization')?.replace('Bearer ', '') ?? ''
    if (!live.has(bearer)) return Response.json({ error_code: 'invalid_token' }, { status: 401 })
    const records = (await request.json()) as { id: string }[]
    taken.push(...records.map(({ id }) => `${bearer} ${id}`))
    const ids = records.map(() => Bun.randomUUIDv7())
    const data = { created: ids.length, duplicates: 0, ids }
    return Response.json({ status: 'success', data }, { status: 201 })
  },
})
afterAll(async () => {
  await server.stop(true)
  rmSync(directory, { recursive: true })
})
beforeEach(() => {
  live.clear()
  taken.length = 0
})

const origin = server.url.origin
const refusedFile = join(directory, 'refused.jsonl')

/** An agent's outbox with another token on each request. */
function open(tokens: (string | null)[]) {
  const owner = { server: origin, email: 'ada@x.example', workspace_id: 'w', agent: 'bot' }
  const outbox = new Outbox(directory, owner)
  let [token] = tokens
  const upload = openUpload({
    server: origin,
    api: openApi(origin, () => null),
    access: () => 'session',
    tokenFor: async (_, __, isAnew) => {
      if (isAnew) token = tokens[1]
      if (token) return token
      throw new ApiError(409, { error_code: 'conflict' })
    },
  })
  const delivery = new OutboxDelivery(outbox, { upload, notice: () => {}, refusedFile })
  const add = (id: string) => {
    const scope = { projectId: '0190f6a0-0000-7000-8000-000000000000', environment: 'development' }
    const call = new CallRecord({ id, ...scope })
    const target = { host: 'api.example.com', method: 'GET', ...scope }
    return outbox.add(auditRecordOf(call, target, call.outcome(200, false)))
  }
  return { outbox, delivery, add }
}

test('an agent whose token ended continues with another', async () => {
  live.add('second')
  const { outbox, delivery, add } = open(['first', 'second'])
  await add('a')
  expect(await delivery.flush()).toBe(true)
  expect(taken).toEqual(['second a'])
  expect(existsSync(refusedFile)).toBe(false)
  await delivery.stop(1_000)
  outbox.close()
})

test('records of an agent that was removed meanwhile are set aside, without waiting for the next start', async () => {
  live.add('first')
  const { outbox, delivery, add } = open(['first', null])
  await add('a')
  expect(await delivery.flush()).toBe(true)
  live.delete('first')
  await add('b')
  expect(await delivery.flush()).toBe(true)
  expect(taken).toEqual(['first a'])
  const aside = readFileSync(refusedFile, 'utf8').trim().split('\n')
  expect(aside.map((line) => JSON.parse(line))).toMatchObject([
    { code: 'conflict', record: { id: 'b' } },
  ])
  await delivery.stop(1_000)
  outbox.close()
})
