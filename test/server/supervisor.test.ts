// tier: quick
import { expect, test } from 'bun:test'
import { openLog } from '../../src/core/log.ts'
import { restartWait, Supervisor, type Worker, WorkerFailed } from '../../src/server/supervisor.ts'
import { FakeTimers, settle } from '../support/fake_timers.ts'

type Fake = Worker<string> & { signals: string[]; becomeReady(): void; end(code: number): void }

function stage({ count = 1, obeys = true }: { count?: number; obeys?: boolean } = {}) {
  const spawned: Fake[] = []
  const timers = new FakeTimers()
  const time = { now: 0 }
  const spawn = (index: number): Fake => {
    const ready = Promise.withResolvers<string>()
    const exited = Promise.withResolvers<number>()
    const fake: Fake = {
      pid: 100 + spawned.length,
      ready: ready.promise,
      exited: exited.promise,
      signals: [],
      kill: (signal) => {
        fake.signals.push(signal)
        if (signal === 'SIGKILL') exited.resolve(137)
        else if (obeys) exited.resolve(0)
      },
      becomeReady: () => ready.resolve(`worker ${index}`),
      end: exited.resolve,
    }
    spawned.push(fake)
    return fake
  }
  const supervisor = new Supervisor<string>({
    count,
    spawn,
    log: openLog('error', () => {}),
    timers,
    now: () => time.now,
  })
  return { supervisor, spawned, timers, time }
}

async function startAll({ supervisor, spawned }: ReturnType<typeof stage>): Promise<string[]> {
  const started = supervisor.start()
  for (const worker of spawned) worker.becomeReady()
  return started
}

test('the start resolves once every worker is ready', async () => {
  expect(await startAll(stage({ count: 3 }))).toEqual(['worker 0', 'worker 1', 'worker 2'])
})

test('a worker that ends before all are ready fails the start and stops the others', async () => {
  const scene = stage({ count: 2 })
  const started = scene.supervisor.start()
  scene.spawned[0]?.becomeReady()
  scene.spawned[1]?.end(78)
  const error = await started.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(WorkerFailed)
  expect(error).toMatchObject({ code: 78 })
  expect(scene.spawned[0]?.signals).toEqual(['SIGTERM'])
  expect([scene.spawned.length, scene.timers.pending]).toEqual([2, 0])
})

test('the delay before a restart doubles from a tenth of a second to ten seconds', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9, 60].map(restartWait)
  expect(waits).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000])
})

test('a worker that ends is restarted after a growing delay, which a healthy minute resets', async () => {
  const scene = stage()
  await startAll(scene)
  const restarts = [
    { livedMs: 0, waitMs: 100 },
    { livedMs: 59_999, waitMs: 200 },
    { livedMs: 60_000, waitMs: 100 },
    { livedMs: 0, waitMs: 200 },
  ]
  for (const [count, { livedMs, waitMs }] of restarts.entries()) {
    scene.time.now += livedMs
    scene.spawned.at(-1)?.end(1)
    await scene.timers.advance(waitMs - 1)
    expect(scene.spawned).toHaveLength(count + 1)
    await scene.timers.advance(1)
    expect(scene.spawned).toHaveLength(count + 2)
  }
})

test('a stopped supervisor starts no worker, not even one that was due for a restart', async () => {
  const scene = stage({ count: 2 })
  await startAll(scene)
  scene.spawned[0]?.end(1)
  await settle()
  expect(scene.timers.pending).toBe(1)
  expect(await scene.supervisor.stop(60_000)).toBe(true)
  await scene.timers.advance(60_000)
  expect([scene.spawned.length, scene.timers.pending]).toEqual([2, 0])
  expect(scene.spawned.map(({ signals }) => signals)).toEqual([[], ['SIGTERM']])
})

test('workers that do not finish in time are killed, and the supervisor reports it', async () => {
  const scene = stage({ count: 2, obeys: false })
  await startAll(scene)
  const stopped = scene.supervisor.stop(60_000)
  await scene.timers.advance(59_999)
  for (const { signals } of scene.spawned) expect(signals).toEqual(['SIGTERM'])
  await scene.timers.advance(1)
  expect(await stopped).toBe(false)
  for (const { signals } of scene.spawned) expect(signals).toEqual(['SIGTERM', 'SIGKILL'])
})
