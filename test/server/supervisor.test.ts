// tier: quick
import { expect, test } from 'bun:test'
import { openLog } from '../../src/platform/log.ts'
import { restartWait, Supervisor, type Worker, WorkerFailed } from '../../src/server/supervisor.ts'

type Fake = Worker<string> & { signals: string[]; becomeReady(): void; end(code: number): void }

function stage({ count = 1, obeys = true }: { count?: number; obeys?: boolean } = {}) {
  const spawned: Fake[] = []
  const waits: { ms: number; callback: () => void }[] = []
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
    wait: (ms, callback) => void waits.push({ ms, callback }),
    now: () => time.now,
  })
  return { supervisor, spawned, waits, time }
}

async function startAll({ supervisor, spawned }: ReturnType<typeof stage>): Promise<string[]> {
  const started = supervisor.start()
  for (const worker of spawned) worker.becomeReady()
  return started
}

/** One turn of the event loop: whatever was to follow has followed. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('it has started when all are ready', async () => {
  expect(await startAll(stage({ count: 3 }))).toEqual(['worker 0', 'worker 1', 'worker 2'])
})

test('a worker that ends before all are ready fails the start, and the others are stopped', async () => {
  const scene = stage({ count: 2 })
  const started = scene.supervisor.start()
  scene.spawned[0]?.becomeReady()
  scene.spawned[1]?.end(78)
  const error = await started.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(WorkerFailed)
  expect(error).toMatchObject({ code: 78 })
  expect(scene.spawned[0]?.signals).toEqual(['SIGTERM'])
  expect([scene.spawned.length, scene.waits.length]).toEqual([2, 0])
})

test('waits double from a tenth of a second to ten seconds', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9, 60].map(restartWait)
  expect(waits).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000])
})

test('one that ends is started anew after a wait that grows, and anew after a healthy minute', async () => {
  const scene = stage()
  await startAll(scene)
  for (const livedMs of [0, 59_999, 60_000, 0]) {
    scene.time.now += livedMs
    scene.spawned.at(-1)?.end(1)
    await settled()
    scene.waits.at(-1)?.callback()
  }
  expect(scene.waits.map(({ ms }) => ms)).toEqual([100, 200, 100, 200])
  expect(scene.spawned).toHaveLength(5)
})

test('after a stop nothing is started, also not what was waiting for it', async () => {
  const scene = stage({ count: 2 })
  await startAll(scene)
  scene.spawned[0]?.end(1)
  await settled()
  expect(await scene.supervisor.stop(60_000)).toBe(true)
  scene.waits[0]?.callback()
  await settled()
  expect([scene.spawned.length, scene.waits.length]).toEqual([2, 1])
  expect(scene.spawned.map(({ signals }) => signals)).toEqual([[], ['SIGTERM']])
})

test('those that do not finish in time are killed, which is told', async () => {
  const scene = stage({ count: 2, obeys: false })
  await startAll(scene)
  expect(await scene.supervisor.stop(1)).toBe(false)
  for (const { signals } of scene.spawned) expect(signals).toEqual(['SIGTERM', 'SIGKILL'])
})
