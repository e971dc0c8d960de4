// tier: all
/**
 * The outbox of audit records: its records are on disk, are sent once the server accepts them, and are sent again
 * after a crash.
 */
import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiError } from '../../src/client/http/api.ts'
import type { Timers } from '../../src/core/async/timers.ts'
import { Fault } from '../../src/core/fault.ts'
import { CallRecord, type Conclusion } from '../../src/outbound/record.ts'
import { OUTBOX_FILE } from '../../src/proxy/outbox/database.ts'
import { OutboxDelivery } from '../../src/proxy/outbox/delivery.ts'
import { Outbox, type OutboxOwner, type StoredRecord } from '../../src/proxy/outbox/outbox.ts'
import { auditRecordOf, type ProxyRecord } from '../../src/proxy/record.ts'
import { effort } from '../support/effort.ts'
import { FakeTimers } from '../support/fake_timers.ts'
import { until } from '../support/until.ts'
import { watched } from '../support/watched.ts'

const root = mkdtempSync(join(tmpdir(), 'cr-outbox-'))
const outboxes: Outbox[] = []
afterAll(async () => {
  for (const outbox of outboxes) outbox.close()
  rmSync(root, { recursive: true, force: true })
})

const owner: OutboxOwner = {
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

const scope = {
  projectId: '0190f6a0-0000-7000-8000-000000000000',
  environment: 'development',
}

function recordOf(id: string, conclude: (call: CallRecord) => Conclusion | null): ProxyRecord {
  const call = new CallRecord({ id, ...scope })
  return auditRecordOf(call, { host: 'api.example.com', method: 'GET', ...scope }, conclude(call))
}

function record(id: string): ProxyRecord {
  return recordOf(id, (call) => call.outcome(200, false))
}

function intent(id: string): ProxyRecord {
  return recordOf(id, () => null)
}

type Row = { id: string; ended: number }

/** Contents of a directory's outbox, from the view of another process. */
function stored(directory: string): Row[] {
  const database = new Database(join(directory, OUTBOX_FILE), { readwrite: true })
  const rows = database.query<Row, []>('SELECT id, ended FROM records ORDER BY sequence').all()
  database.close()
  return rows
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}

/** A server that stores what it receives, while `refuse` returns nothing. */
function openServer(refuse: (batch: readonly StoredRecord[]) => Error | null = () => null) {
  const batches: { owner: OutboxOwner; ids: string[] }[] = []
  const notices: string[] = []
  const upload = async (from: OutboxOwner, records: readonly StoredRecord[]) => {
    const refusal = refuse(records)
    if (refusal) throw refusal
    batches.push({ owner: from, ids: records.map(({ id }) => id) })
  }
  const ids = () => batches.flatMap((batch) => batch.ids)
  return { batches, ids, notices, upload, notice: (text: string) => void notices.push(text) }
}

type Server = Pick<ReturnType<typeof openServer>, 'notice' | 'upload'>

/** An outbox with its delivery, which runs only on demand. */
function open(directory: string, server = openServer(), isAlive = DEAD) {
  const outbox = new Outbox(directory, owner, { isAlive })
  outboxes.push(outbox)
  const refusedFile = join(directory, 'refused.jsonl')
  return { outbox, delivery: deliveryOf(outbox, directory, server), refusedFile }
}

function deliveryOf(
  outbox: Outbox,
  directory: string,
  server: Server,
  timers: Timers = new FakeTimers(),
): OutboxDelivery {
  const refusedFile = join(directory, 'refused.jsonl')
  return new OutboxDelivery(outbox, { ...server, refusedFile, timers })
}

describe('a record', () => {
  test('a record is on disk, readable by its owner only, when begin returns', async () => {
    const directory = newDirectory()
    const { outbox } = open(directory)
    await outbox.begin(intent('a'))
    // A copy of the files that a crash would leave now, without data that the process still holds.
    const copy = newDirectory()
    cpSync(directory, copy, { recursive: true })
    expect(stored(copy)).toEqual([{ id: 'a', ended: 0 }])
    expect(modeOf(directory)).toBe('700')
    const files = readdirSync(directory)
    expect(files).toContain(OUTBOX_FILE)
    expect(files.map((name) => modeOf(join(directory, name)))).toEqual(files.map(() => '600'))
  })

  test('a record is written to a directory and a file of this user alone, whatever their earlier permissions', async () => {
    const directory = newDirectory()
    chmodSync(directory, 0o755)
    writeFileSync(join(directory, OUTBOX_FILE), '', { mode: 0o644 })
    await open(directory).outbox.add(record('a'))
    expect(modeOf(directory)).toBe('700')
    expect(modeOf(join(directory, OUTBOX_FILE))).toBe('600')
  })

  test('a record shares its transaction, and so its fsync, with concurrent ones', async () => {
    const directory = newDirectory()
    const { outbox } = open(directory)
    await outbox.add(record('first'))
    const before = commitsIn(directory)
    await Promise.all(Array.from({ length: 200 }, (_, index) => outbox.add(record(`r${index}`))))
    expect(commitsIn(directory) - before).toBe(1)
    expect(stored(directory)).toHaveLength(201)
  })

  test('a record is stored once, however often it arrives', async () => {
    const directory = newDirectory()
    const server = openServer()
    const { outbox, delivery } = open(directory, server)
    const { end } = await outbox.begin(intent('a'))
    await end(record('a'))
    await end(record('a'))
    await outbox.add(record('a'))
    await outbox.begin(intent('a'))
    expect(stored(directory)).toEqual([{ id: 'a', ended: 1 }])
    await delivery.flush()
    expect(server.ids()).toEqual(['a'])
  })

  test('a record with an outcome that arrives after another proxy sent it without one is sent again, with it', async () => {
    const directory = newDirectory()
    const server = openServer()
    const { outbox, delivery } = open(directory, server)
    const { end } = await outbox.begin(intent('a'))
    outbox.remove([{ id: 'a' }])
    await end(record('a'))
    await delivery.flush()
    expect(server.ids()).toEqual(['a'])
  })

  test('a record is sent once, with its outcome, and then deleted', async () => {
    const directory = newDirectory()
    const server = openServer()
    const { outbox, delivery } = open(directory, server)
    const { end } = await outbox.begin(intent('a'))
    expect(await delivery.flush()).toBe(true)
    expect(server.ids()).toEqual([])
    await end(recordOf('a', (call) => call.refusal(new Fault('policy_blocked'))))
    await outbox.add(record('b'))
    await delivery.flush()
    await delivery.flush()
    expect(server.ids().sort()).toEqual(['a', 'b'])
    expect(stored(directory)).toEqual([])
  })

  test('a record of a long stream does not delay the others, and they are not sent again', async () => {
    const directory = newDirectory()
    const server = openServer()
    const { outbox, delivery } = open(directory, server)
    const { end } = await outbox.begin(intent('stream'))
    await outbox.add(record('b'))
    await delivery.flush()
    await delivery.flush()
    expect(server.ids()).toEqual(['b'])
    await end(record('stream'))
    await delivery.flush()
    expect(server.ids()).toEqual(['b', 'stream'])
    expect(stored(directory)).toEqual([])
  })

  test('a record that arrives while others are being sent is never lost', async () => {
    const directory = newDirectory()
    const server = openServer()
    const { outbox, delivery } = open(directory, server)
    const expected = Array.from({ length: 300 }, (_, index) => `r${index}`)
    const calls = expected.map(async (id) => {
      const { end } = await outbox.begin(intent(id))
      if (id.endsWith('7')) await delivery.flush()
      await end(record(id))
    })
    await Promise.all(calls)
    await delivery.flush()
    expect(server.ids().sort()).toEqual(expected.sort())
    expect(stored(directory)).toEqual([])
  })
})

describe('an outbox', () => {
  test('a full outbox rejects requests, accepts their outcomes, and continues once they are sent', async () => {
    const directory = newDirectory()
    const maxBytes = 128 * 1024
    const outbox = new Outbox(directory, owner, { maxBytes })
    outboxes.push(outbox)
    const ends: (() => Promise<void>)[] = []
    const fill = async () => {
      while (true) {
        const id = Bun.randomUUIDv7()
        const { end } = await outbox.begin(intent(id))
        ends.push(() => end(record(id)))
      }
    }
    await expect(fill()).rejects.toThrow('the outbox is full')
    await expect(outbox.add(record('refusal'))).rejects.toThrow('the outbox is full')
    expect(ends.length).toBeGreaterThan(100)
    for (const end of ends) await end()
    expect(stored(directory).map(({ ended }) => ended)).toEqual(ends.map(() => 1))
    expect(statSync(join(directory, OUTBOX_FILE)).size).toBeLessThan(2 * maxBytes)
    const server = openServer()
    await deliveryOf(outbox, directory, server).flush()
    expect(server.ids()).toHaveLength(ends.length)
    await outbox.add(record('after'))
    expect(stored(directory)).toEqual([{ id: 'after', ended: 1 }])
  })

  test('an outbox that cannot be written rejects every record, until it can', async () => {
    const directory = join(newDirectory(), 'audit')
    writeFileSync(directory, '')
    const server = openServer()
    const { outbox, delivery } = open(directory, server)
    await expect(outbox.begin(intent('a'))).rejects.toThrow()
    await expect(outbox.add(record('b'))).rejects.toThrow()
    expect(await delivery.flush()).toBe(true)
    rmSync(directory)
    await outbox.add(record('c'))
    await delivery.flush()
    expect(server.ids()).toEqual(['c'])
  })

  test('an outbox file with other content is not overwritten', async () => {
    const directory = newDirectory()
    const foreign = 'not a database, '.repeat(1000)
    writeFileSync(join(directory, OUTBOX_FILE), foreign)
    const server = openServer()
    const { outbox, delivery } = open(directory, server)
    await expect(outbox.begin(intent('a'))).rejects.toThrow('not a database')
    expect(await delivery.flush()).toBe(false)
    expect(readFileSync(join(directory, OUTBOX_FILE), 'utf8')).toBe(foreign)
  })

  test('a closed outbox accepts no more records, and its contents are sent by the next one', async () => {
    const directory = newDirectory()
    const { outbox } = open(directory)
    const { end } = await outbox.begin(intent('stream'))
    const late = outbox.add(record('late'))
    outbox.close()
    await late
    await expect(end(record('stream'))).rejects.toThrow('the outbox is closed')
    const server = openServer()
    await open(directory, server).delivery.flush()
    expect(server.ids()).toEqual(['stream', 'late'])
  })

  test('an outbox without records creates no files', async () => {
    const directory = join(newDirectory(), 'audit')
    expect(await open(directory).delivery.flush()).toBe(true)
    expect(() => readdirSync(directory)).toThrow('ENOENT')
  })
})

describe('several proxies of one user', () => {
  test('several proxies share an outbox that none of them had created before', async () => {
    const directory = join(newDirectory(), 'audit')
    const writers = Array.from({ length: 4 }, () => startWriter(directory, effort(50, 150), 10))
    expect(await Promise.all(writers.map(({ exited }) => exited))).toEqual(writers.map(() => 0))
    const expected = writers.flatMap(({ ended }) => ended()).sort()
    expect(expected).toHaveLength(4 * effort(50, 150))
    const server = openServer()
    // Two find the same records at the same time: none is lost, and the server detects a repeat by its ID.
    await Promise.all([openFor(directory, server).flush(), openFor(directory, server).flush()])
    expect([...new Set(server.ids())].sort()).toEqual(expected)
    expect(stored(directory)).toEqual([])
  }, 60_000)

  test('several proxies that are killed at any moment lose no acknowledged record', async () => {
    const directory = newDirectory()
    for (let round = 0; round < effort(1, 5); round++) {
      const writers = [startWriter(directory, 1e9, 1), startWriter(directory, 1e9, 20)]
      const enough = 20 + Math.random() * 40
      await until(() => writers.every(({ ended }) => ended().length >= enough))
      for (const { child } of writers) child.kill('SIGKILL')
      await Promise.all(writers.map(({ exited }) => exited))
      const sent = new Map<string, unknown>()
      const upload = async (_: OutboxOwner, records: readonly StoredRecord[]) => {
        for (const { id, status_code } of records) sent.set(id, status_code)
      }
      expect(await openFor(directory, { ...openServer(), upload }).flush()).toBe(true)
      for (const { begun, ended } of writers) {
        expect(begun().filter((id) => !sent.has(id))).toEqual([])
        expect(ended().filter((id) => sent.get(id) !== 200)).toEqual([])
      }
      expect(stored(directory)).toEqual([])
    }
  }, 60_000)
})

describe('a process that ended', () => {
  test('a process that ended leaves its records to the next one, unfinished ones without an outcome', async () => {
    const directory = newDirectory()
    await die(directory, owner, async (dead) => {
      await dead.add(record('done'))
      await dead.begin(intent('under way'))
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
    expect(stored(directory)).toEqual([])
  })

  test('a process that ended leaves a half-written transaction, which affects no other', async () => {
    const directory = newDirectory()
    const { outbox } = open(directory)
    await outbox.add(record('whole'))
    const crashed = newDirectory()
    cpSync(directory, crashed, { recursive: true })
    const log = join(crashed, `${OUTBOX_FILE}-wal`)
    const frames = readFileSync(log)
    appendFileSync(log, frames.subarray(32, 32 + 1000))
    const after = open(crashed)
    await after.outbox.add(record('after'))
    expect(stored(crashed).map(({ id }) => id)).toEqual(['whole', 'after'])
  })

  test.each([
    ['is alive', { ...owner }, ALIVE],
    ['served somebody else', { ...owner, email: 'grace@x.example' }, DEAD],
    ['talked to another server', { ...owner, server: 'http://two' }, DEAD],
  ])('a process is left alone when it %s', async (_, of, isAlive) => {
    const directory = newDirectory()
    await die(directory, of, (dead) => dead.add(record('theirs')))
    const server = openServer()
    const { delivery } = open(directory, server, isAlive)
    await delivery.flush()
    expect(server.ids()).toEqual([])
    expect(stored(directory)).toHaveLength(1)
  })

  test("calls of an ended process of another agent are reported in that agent's name", async () => {
    const directory = newDirectory()
    const theirs = { ...owner, agent: 'deploy-bot' }
    await die(directory, theirs, (dead) => dead.add(record('x')))
    const server = openServer()
    await open(directory, server).delivery.flush()
    expect(server.batches).toMatchObject([{ owner: theirs, ids: ['x'] }])
  })
})

describe('a server', () => {
  test('an unavailable server gets everything once it is back, and the user gets two notices', async () => {
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
      'audit records are kept on this machine until the server accepts them',
      'audit records are being sent again',
    ])
  })

  test('an unavailable server is asked again after intervals that double up to a minute', async () => {
    const directory = newDirectory()
    let attempts = 0
    const server = openServer(() => {
      attempts += 1
      return attempts < 9 ? new TypeError('no connection') : null
    })
    const outbox = new Outbox(directory, owner, { isAlive: DEAD })
    outboxes.push(outbox)
    await outbox.add(record('a'))
    const timers = new FakeTimers()
    const delivery = deliveryOf(outbox, directory, server, timers)
    for (const [count, seconds] of [1, 2, 4, 8, 16, 32, 60, 60, 60].entries()) {
      await timers.advance(seconds * 1000 - 1)
      expect(attempts).toBe(count)
      await timers.advance(1)
      await until(() => attempts === count + 1 && timers.pending === 1)
    }
    expect(server.ids()).toEqual(['a'])
    await outbox.add(record('b'))
    await timers.advance(1_000)
    await until(() => server.ids().length === 2)
    await delivery.stop(1_000)
  })

  test.each([401, 403, 404, 429, 503])(
    'a server that answers %d keeps the records waiting',
    async (status) => {
      const directory = newDirectory()
      const server = openServer(() => new ApiError(status, {}))
      const { outbox, delivery, refusedFile } = open(directory, server)
      await outbox.add(record('a'))
      expect(await delivery.flush()).toBe(false)
      expect(stored(directory)).toHaveLength(1)
      expect(existsSync(refusedFile)).toBe(false)
    },
  )

  test('a server that rejects one record gets all others, and the one is kept aside', async () => {
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
    expect(stored(directory)).toEqual([])
  })

  test('a server gets at most a thousand records at a time', async () => {
    const directory = newDirectory()
    const server = openServer()
    const { outbox, delivery } = open(directory, server)
    await Promise.all(Array.from({ length: 2500 }, (_, index) => outbox.add(record(`r${index}`))))
    await delivery.flush()
    expect(server.batches.map(({ ids }) => ids.length)).toEqual([1000, 1000, 500])
  })
})

/** Sends like a new proxy, with the real check of which processes ended. */
function openFor(directory: string, server: Server): OutboxDelivery {
  const outbox = new Outbox(directory, owner)
  outboxes.push(outbox)
  return deliveryOf(outbox, directory, server)
}

function startWriter(directory: string, count: number, width: number) {
  const script = join(import.meta.dir, 'outbox/child.ts')
  const command = [process.execPath, script, directory, String(count), String(width)]
  const child = watched(Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' }))
  let text = ''
  const read = async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stdout) text += decoder.decode(chunk, { stream: true })
    return child.exited
  }
  const exited = read()
  // A line that the kill truncated is not an acknowledgement that was read.
  const of = (word: string) => [...text.matchAll(new RegExp(`^${word} (.+)\n`, 'gm'))].map(idOf)
  return { child, exited, begun: () => of('begun'), ended: () => of('ended') }
}

function idOf([, id = '']: RegExpExecArray): string {
  return id
}

/** Commits in the write-ahead log, whose frames name the size of the database where a transaction ends. */
function commitsIn(directory: string): number {
  const log = readFileSync(join(directory, `${OUTBOX_FILE}-wal`))
  const frame = 24 + log.readUInt32BE(8)
  let commits = 0
  for (let at = 32; at + frame <= log.length; at += frame) {
    if (log.readUInt32BE(at + 4) > 0) commits += 1
  }
  return commits
}

/** Leaves the state that an ended process with another number leaves. */
async function die(
  directory: string,
  of: OutboxOwner,
  act: (outbox: Outbox) => Promise<unknown>,
): Promise<void> {
  const outbox = new Outbox(directory, of, { isAlive: ALIVE })
  await act(outbox)
  outbox.close()
  const database = new Database(join(directory, OUTBOX_FILE))
  database.run('UPDATE writers SET pid = 4000000')
  database.close()
}
