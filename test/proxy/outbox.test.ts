/** The outbox of audit records: what is in it is on disk, is sent once the server takes it, and is sent again after a crash. */
import { afterAll, describe, expect, test } from 'bun:test'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiError } from '../../src/client/api.ts'
import { Fault } from '../../src/platform/fault.ts'
import { Outbox } from '../../src/proxy/outbox.ts'
import { OutboxDelivery } from '../../src/proxy/outbox_delivery.ts'
import { type AuditRecord, RecordBook } from '../../src/proxy/record.ts'
import { type Owner, readSegment, type StoredRecord } from '../../src/proxy/segment.ts'

const root = mkdtempSync(join(tmpdir(), 'cr-outbox-'))
const outboxes: Outbox[] = []
afterAll(async () => {
  for (const outbox of outboxes) await outbox.close()
  rmSync(root, { recursive: true, force: true })
})

const owner: Owner = {
  server: 'http://one',
  email: 'ada@x.example',
  workspace_id: 'w',
  agent: null,
}
const DEAD = () => false
const ALIVE = () => true

function newDirectory(): string {
  return mkdtempSync(join(root, 'q-'))
}

function bookOf(id: string): RecordBook {
  return new RecordBook({
    id,
    method: 'GET',
    host: 'api.example.com',
    projectId: '0190f6a0-0000-7000-8000-000000000000',
    environment: 'development',
  })
}

function record(id: string): AuditRecord {
  return bookOf(id).outcome(200, false)
}

function segmentsIn(directory: string): string[] {
  return readdirSync(directory).filter((name) => /^[0-9a-f-]{36}\.jsonl$/.test(name))
}

/** A server that keeps what it is sent, as long as `refuse` answers nothing. */
function openServer(refuse: (batch: readonly StoredRecord[]) => Error | null = () => null) {
  const batches: { owner: Owner; ids: string[] }[] = []
  const notices: string[] = []
  const upload = async (from: Owner, records: readonly StoredRecord[]) => {
    const refusal = refuse(records)
    if (refusal) throw refusal
    batches.push({ owner: from, ids: records.map(({ id }) => id) })
  }
  const ids = () => batches.flatMap((batch) => batch.ids)
  return { batches, ids, notices, upload, notice: (text: string) => void notices.push(text) }
}

/** A outbox with its delivery, which runs only when it is told to. */
function open(directory: string, server = openServer(), isAlive = DEAD) {
  const outbox = new Outbox(directory, owner, isAlive)
  outboxes.push(outbox)
  const refusedFile = join(directory, 'refused.jsonl')
  const delivery = new OutboxDelivery(outbox, { ...server, refusedFile })
  return { outbox, delivery, refusedFile }
}

describe('a record', () => {
  test('is on disk, readable by its owner only, when begin returns', async () => {
    const directory = newDirectory()
    const { outbox } = open(directory)
    await outbox.begin(bookOf('a').intent())
    const [name = ''] = segmentsIn(directory)
    expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600)
    const { header, begun, ended } = await readSegment(join(directory, name))
    expect(header).toEqual({ ...owner, pid: process.pid })
    expect(begun).toMatchObject([{ id: 'a', decision: 'allowed', status_code: null }])
    expect(ended).toEqual([])
  })

  test('is sent once, with its outcome, and its segment is gone', async () => {
    const directory = newDirectory()
    const server = openServer()
    const { outbox, delivery } = open(directory, server)
    const { end } = await outbox.begin(bookOf('a').intent())
    expect(await delivery.flush()).toBe(true)
    expect(server.ids()).toEqual([])
    await end(bookOf('a').failure(new Fault('policy_blocked')))
    await outbox.add(record('b'))
    await delivery.flush()
    await delivery.flush()
    expect(server.ids().sort()).toEqual(['a', 'b'])
    expect(segmentsIn(directory)).toEqual([])
  })

  test('of a long stream does not hold up the others, and they are not sent again', async () => {
    const directory = newDirectory()
    const server = openServer()
    const { outbox, delivery } = open(directory, server)
    const { end } = await outbox.begin(bookOf('stream').intent())
    await outbox.add(record('b'))
    await delivery.flush()
    await delivery.flush()
    expect(server.ids()).toEqual(['b'])
    await end(record('stream'))
    await delivery.flush()
    expect(server.ids()).toEqual(['b', 'stream'])
    expect(segmentsIn(directory)).toEqual([])
  })

  test('that comes while others are being sent is lost by no accident of timing', async () => {
    const directory = newDirectory()
    const server = openServer()
    const { outbox, delivery } = open(directory, server)
    const expected = Array.from({ length: 300 }, (_, index) => `r${index}`)
    const calls = expected.map(async (id) => {
      const { end } = await outbox.begin(bookOf(id).intent())
      if (id.endsWith('7')) await delivery.flush()
      await end(record(id))
    })
    await Promise.all(calls)
    await delivery.flush()
    expect(server.ids().sort()).toEqual(expected.sort())
    expect(segmentsIn(directory)).toEqual([])
  })
})

describe('a process that died', () => {
  test('leaves its records to the next one, what it had begun without an outcome', async () => {
    const directory = newDirectory()
    await die(directory, owner, async (dead) => {
      await dead.add(record('done'))
      await dead.begin(bookOf('under way').intent())
    })
    const server = openServer()
    const sent: StoredRecord[] = []
    const { delivery } = open(directory, {
      ...server,
      upload: async (_, records) => void sent.push(...records),
    })
    await delivery.flush()
    expect(sent).toMatchObject([
      { id: 'done', status_code: 200 },
      { id: 'under way', status_code: null },
    ])
    expect(segmentsIn(directory)).toEqual([])
  })

  test('leaves a line half written, which spoils no other', async () => {
    const directory = newDirectory()
    const { outbox } = open(directory)
    await outbox.add(record('whole'))
    const [name = ''] = segmentsIn(directory)
    appendFileSync(join(directory, name), '{"ended":{"id":"torn","timest')
    await outbox.add(record('after'))
    const { ended } = await readSegment(join(directory, name))
    expect(ended.map(({ id }) => id)).toEqual(['whole', 'after'])
  })

  test.each([
    ['is alive', { ...owner }, ALIVE],
    ['served somebody else', { ...owner, email: 'grace@x.example' }, DEAD],
    ['talked to another server', { ...owner, server: 'http://two' }, DEAD],
  ])('is left alone when it %s', async (_, of, isAlive) => {
    const directory = newDirectory()
    await die(directory, of, (dead) => dead.add(record('theirs')))
    const server = openServer()
    const { delivery } = open(directory, server, isAlive)
    await delivery.flush()
    expect(server.ids()).toEqual([])
    expect(segmentsIn(directory)).toHaveLength(1)
  })

  test('of another agent is reported in the name of that agent', async () => {
    const directory = newDirectory()
    const theirs = { ...owner, agent: 'deploy-bot' }
    await die(directory, theirs, (dead) => dead.add(record('x')))
    const server = openServer()
    await open(directory, server).delivery.flush()
    expect(server.batches).toMatchObject([{ owner: theirs, ids: ['x'] }])
  })
})

describe('a server', () => {
  test('that is away gets everything when it is back, and the user is told twice', async () => {
    const directory = newDirectory()
    let isAway = true
    const server = openServer(() => (isAway ? new TypeError('no connection') : null))
    const { outbox, delivery } = open(directory, server)
    await outbox.add(record('a'))
    expect(await delivery.flush()).toBe(false)
    await outbox.add(record('b'))
    expect(await delivery.flush()).toBe(false)
    isAway = false
    expect(await delivery.flush()).toBe(true)
    expect(server.ids()).toEqual(['a', 'b'])
    expect(server.notices).toEqual([
      'audit records wait on this machine until the server takes them',
      'audit records are being sent again',
    ])
  })

  test.each([401, 403, 404, 429, 503])(
    'that answers %d keeps the records waiting',
    async (status) => {
      const directory = newDirectory()
      const server = openServer(() => new ApiError(status, {}))
      const { outbox, delivery, refusedFile } = open(directory, server)
      await outbox.add(record('a'))
      expect(await delivery.flush()).toBe(false)
      expect(segmentsIn(directory)).toHaveLength(1)
      expect(readdirSync(directory)).not.toContain(refusedFile)
    },
  )

  test('that refuses one record gets all others, and the one is kept aside', async () => {
    const directory = newDirectory()
    const server = openServer((batch) =>
      batch.some(({ id }) => id === 'r5')
        ? new ApiError(422, { error_code: 'validation_error' })
        : null,
    )
    const { outbox, delivery, refusedFile } = open(directory, server)
    const all = Array.from({ length: 9 }, (_, index) => `r${index}`)
    for (const id of all) await outbox.add(record(id))
    expect(await delivery.flush()).toBe(true)
    expect(server.ids().sort()).toEqual(all.filter((id) => id !== 'r5'))
    expect(JSON.parse(readFileSync(refusedFile, 'utf8'))).toMatchObject({
      code: 'validation_error',
      record: { id: 'r5' },
    })
    expect(segmentsIn(directory)).toEqual([])
  })

  test('is sent at most a thousand records at a time', async () => {
    const directory = newDirectory()
    const server = openServer()
    const { outbox, delivery } = open(directory, server)
    await Promise.all(Array.from({ length: 2500 }, (_, index) => outbox.add(record(`r${index}`))))
    await delivery.flush()
    expect(server.batches.map(({ ids }) => ids.length)).toEqual([1000, 1000, 500])
  })
})

/** What a process of another number leaves behind after it did something. */
async function die(
  directory: string,
  of: Owner,
  act: (outbox: Outbox) => Promise<unknown>,
): Promise<void> {
  const outbox = new Outbox(directory, of, ALIVE)
  await act(outbox)
  await outbox.close()
  for (const name of segmentsIn(directory)) {
    appendFileSync(
      join(directory, name),
      `${JSON.stringify({ segment: { ...of, pid: 4_000_000 } })}\n`,
    )
  }
}
