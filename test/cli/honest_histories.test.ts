// tier: all
/**
 * Ordinary histories of signed workspaces raise no alarm in any command, and tampering after one of them does. A history
 * that failed is repeated with `HISTORY_SEED=… bun run test honest_histories`.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { examine, USUAL_LIMITS } from '../../src/operator/checks/doctor.ts'
import { randomFrom } from '../faults/random.ts'
import { startTestApp, type TestApp, UNLIMITED } from '../support/app.ts'
import { effort } from '../support/effort.ts'
import { sample } from '../support/sample.ts'
import { steps } from './histories/steps.ts'
import { tampering } from './histories/tampering.ts'
import {
  act,
  attempt,
  oneOf,
  openPeople,
  openWorld,
  type Someone,
  type World,
} from './histories/world.ts'

const HISTORIES = 50
const STEPS = effort(5, 6)

let app: TestApp

beforeAll(async () => {
  app = await startTestApp(UNLIMITED)
})
afterAll(() => app.stop())

const seeds =
  process.env.HISTORY_SEED === undefined
    ? sample(
        'honest histories',
        Array.from({ length: HISTORIES }, (_, at) => at + 1),
        HISTORIES,
      )
    : process.env.HISTORY_SEED.split(',').map(Number)

test.each(seeds)(
  'the ordinary history %d raises no alarm',
  (seed) => walk(seed, expectQuiet),
  300_000,
)

test.each([HISTORIES + 1, HISTORIES + 2, HISTORIES + 3])(
  'tampering after the ordinary history %d raises an alarm',
  (seed) => walk(seed, expectAlarm),
  300_000,
)

async function walk(seed: number, expectIt: (world: World) => Promise<void>): Promise<void> {
  const people = await openPeople(app, `h${seed}`)
  const world = await openWorld(app, people, randomFrom(seed))
  await steps.create_project?.(world)
  for (let done = 0; done < STEPS; ) {
    const step = steps[oneOf(world, Object.keys(steps))]
    if (await step?.(world)) done += 1
  }
  await expectIt(world)
  for (const { machines } of people) for (const machine of machines) machine.remove()
}

/** Runs for every member, every token, and the server's operator. */
async function expectQuiet(world: World): Promise<void> {
  for (const who of world.roles.keys()) {
    const verified = JSON.parse(await act(world, who, ['workspace', 'verify', '--json']))
    expect([world.steps, verified.verdict]).toEqual([world.steps, 'verified'])
  }
  const ended = world.ended.map((text) => ({ text, isLive: false }))
  for (const { text, isLive } of [...world.tokens, ...ended]) {
    const args = ['secrets', 'list', '--token', text, '--json']
    const { code, err } = await attempt(world, world.people[0] as Someone, args)
    if (isLive) expect([world.steps, code, err]).toEqual([world.steps, 0, ''])
    else expect([world.steps, code]).toEqual([world.steps, 3])
  }
  expect(app.logs.filter((line) => line.includes('unverified'))).toEqual([])
  const { connection, config, clock } = app
  const findings = await examine({ connection, config, now: clock.now, limits: USUAL_LIMITS })
  const unsigned = findings.filter(({ check }) => check === 'unsigned_rows')
  expect(unsigned).toMatchObject([{ level: 'ok' }])
}

async function expectAlarm(world: World): Promise<void> {
  const [owner] = [...world.roles].find(([, role]) => role === 'owner') ?? []
  for (const { what, does, undo } of tampering(world)) {
    if (!(await does())) continue
    const { code, out } = await (owner as Someone).machines[0].run([
      ...['workspace', 'verify', '--json', '-w', world.workspaceId],
    ])
    await undo()
    expect([what, code, JSON.parse(out || '{}').verdict]).toEqual([what, 1, 'refused'])
  }
}
