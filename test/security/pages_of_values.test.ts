// tier: quick
/**
 * A page of values is bounded in bytes, not only in rows, and the pages of one workspace are read two at a time, so a
 * person with much data delays nobody else.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Semaphores } from '../../src/core/async/semaphore.ts'
import { toBase64 } from '../../src/core/crypto/encoding.ts'
import { listSecrets, upsertSecrets } from '../../src/features/secrets/contract.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { openProject, type ProjectTeam } from '../support/project.ts'

const MIB = 1_048_576
/** The largest accepted value. */
const LARGE = toBase64(new Uint8Array(98_304).fill(7))
const COUNT = 120

let app: TestApp
let team: ProjectTeam

beforeAll(async () => {
  app = await startTestApp({ RATE_API: '1000000/1' })
  team = await openProject(app)
  for (let from = 0; from < COUNT; from += 30) {
    const keys = Array.from({ length: 30 }, (_, at) => `KEY_${String(from + at).padStart(3, '0')}`)
    const secrets = Object.fromEntries(keys.map((key) => [key, LARGE]))
    await team.owner.api.call(upsertSecrets, { body: { project_id: team.projectId, secrets } })
  }
}, 60_000)
afterAll(() => app.stop())

type Page = {
  data: { key: string; value?: string }[]
  pagination: { next_cursor: string | null }
}

async function pageAt(query: string): Promise<Page> {
  const { token } = team.owner
  const answer = await app.call('GET', `/api/secrets/${team.projectId}/?${query}`, { token })
  expect(answer.status).toBe(200)
  return answer.body as Page
}

test('a page of large values has few rows, and the cursor continues after the last', async () => {
  const keys: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { data, pagination } = await pageAt(
      `include=value&limit=500&cursor=${cursor}`.replace(/&cursor=$/, ''),
    )
    const bytes = data.reduce((sum, { value = '' }) => sum + (value.length / 4) * 3, 0)
    expect(bytes).toBeLessThan(4 * MIB + 2 * 98_304)
    for (const { key, value } of data) {
      expect(value).toBe(LARGE)
      keys.push(key)
    }
    expect(data.length).toBeGreaterThan(0)
    cursor = pagination.next_cursor
  }
  expect(keys).toEqual(
    Array.from({ length: COUNT }, (_, at) => `KEY_${String(at).padStart(3, '0')}`),
  )
})

test('a page without values has the requested number of rows, and a small limit applies with values', async () => {
  expect((await pageAt('limit=500')).data).toHaveLength(COUNT)
  const { data, pagination } = await pageAt('include=value&limit=3')
  expect(data.map(({ key }) => key)).toEqual(['KEY_000', 'KEY_001', 'KEY_002'])
  expect(pagination.next_cursor).toBeString()
})

test('clients follow the cursor', async () => {
  const { owner, projectId } = team
  const all = await owner.api.list(listSecrets, {
    params: { project_id: projectId },
    query: { environment: 'development', include: 'value' },
  })
  expect(all).toHaveLength(COUNT)
  expect(all.every(({ value }) => value === LARGE)).toBe(true)
})

/** A turn of the event loop. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('one workspace has two running requests, its others wait in order, and another workspace does not wait', async () => {
  const pages = new Semaphores({ width: 2, queue: 2 })
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const read = (workspace: string, name: string) =>
    pages.run(workspace, () => {
      begun.push(name)
      return new Promise<void>((resolve) => ends.set(name, resolve))
    })
  const running = ['a1', 'a2', 'a3', 'a4'].map((name) => read('a', name))
  expect(read('a', 'a5')).rejects.toMatchObject({ code: 'unavailable' })
  running.push(read('b', 'b1'))
  await nextTurn()
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  ends.get('a2')?.()
  await nextTurn()
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3'])
  ends.get('a1')?.()
  await nextTurn()
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
  for (const end of ends.values()) end()
  await Promise.all(running)
})
