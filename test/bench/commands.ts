/**
 * `bench commands` measures commands of the compiled executable, alternating with `true` and `--version`, against a
 * server on this machine, and counts their sequential and concurrent requests.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildExecutable } from '../../src/dev/build.ts'
import { startBenchCluster } from './cluster.ts'
import { figure, markdownTable, median, timed } from './measure.ts'
import { benchSettings, serverCommand, startServer } from './server.ts'

const ENTRY = join(import.meta.dir, '../../src/main.ts')
const SECRETS = 10
/** How long an answer is held while requests are counted, so that concurrent ones overlap. */
const HELD_MS = 100

const RUN = ['run', '--', 'true']
const COMMANDS = {
  '--version': ['--version'],
  'run, unlocked session': RUN,
  'run, file and passphrase': RUN,
  'run, workload token': RUN,
  'secrets list': ['secrets', 'list'],
  'secrets get': ['secrets', 'get', 'NAME_1'],
} satisfies Record<string, string[]>
type Name = keyof typeof COMMANDS
const NAMES = Object.keys(COMMANDS) as Name[]

export async function benchCommands(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { rounds: { type: 'string', default: '20' }, executable: { type: 'string' } },
  })
  const directory = mkdtempSync(join(tmpdir(), 'cr-bench-commands-'))
  const executable = values.executable ? resolve(values.executable) : join(directory, 'cloakroom')
  if (!values.executable) await buildExecutable({ entry: ENTRY, outfile: executable })
  const cluster = await startBenchCluster()
  const settings = { ...benchSettings(), ...(await cluster.createDatabase()) }
  const server = await startServer(settings, serverCommand({ executable }))
  const counter = countRequests(server.controlPlane)
  try {
    const place = { executable, directory }
    const direct = await openPerson({ ...place, origin: server.controlPlane }, 'ada@example.com')
    const counted = await openPerson({ ...place, origin: counter.origin }, 'bob@example.com')
    const times = await measure(direct, Number(values.rounds))
    process.stdout.write(`${tableOf(times, await countAll(counted, counter))}\n`)
    for (const person of [direct, counted]) await person.run(['lock'])
  } finally {
    counter.stop()
    await server.stop()
    await cluster.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

type Place = { executable: string; directory: string; origin: string }
type Person = { run(args: string[], env?: Env): Promise<string>; envOf(name: Name): Env }
type Env = Record<string, string>

/** An account with a signed workspace, secrets, a token, and an unlocked session. */
async function openPerson(
  { executable, directory, origin }: Place,
  email: string,
): Promise<Person> {
  const home = mkdtempSync(join(directory, 'home-'))
  const base = { PATH: process.env.PATH ?? '', HOME: home, SERVICE_SERVER_URL: origin }
  const passphrase = { ...base, SERVICE_PASSPHRASE: 'a long passphrase that stays here' }
  const session = { ...base, XDG_RUNTIME_DIR: home }
  const run = async (args: string[], env: Env = session, input = '') => {
    const command = [executable, ...args]
    const stdin = new Blob([input])
    const child = Bun.spawn(command, { cwd: home, env, stdin, stdout: 'pipe', stderr: 'pipe' })
    const out = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    if ((await child.exited) !== 0) throw new Error(`${args.join(' ')}: ${(await out)[1]}`)
    return (await out)[0]
  }
  await run(['register', email, '--password-stdin'], passphrase, 'a password that nobody else has')
  await run(['unlock'], { ...session, ...passphrase })
  await run(['init', 'api'])
  const texts = Array.from({ length: SECRETS }, (_, at) => `NAME_${at}=value of secret ${at}`)
  await run(['secrets', 'set', ...texts])
  const issued = await run(['workload-token', 'issue', 'ci', '--json'])
  const { token } = JSON.parse(issued) as { token: string }
  return {
    run,
    envOf: (name) => {
      if (name === 'run, file and passphrase') return { ...passphrase, XDG_RUNTIME_DIR: directory }
      return name === 'run, workload token' ? { ...base, SERVICE_TOKEN: token } : session
    },
  }
}

async function measure(person: Person, rounds: number): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>()
  const add = async (name: string, work: () => Promise<unknown>) =>
    times.set(name, [...(times.get(name) ?? []), await timed(work)])
  for (let round = 0; round < rounds; round += 1) {
    await add('true', () => Bun.spawn(['true']).exited)
    for (const name of NAMES) await add(name, () => person.run(COMMANDS[name], person.envOf(name)))
  }
  return times
}

type Counter = ReturnType<typeof countRequests>

async function countAll(person: Person, { take }: Counter): Promise<Map<string, string[]>> {
  const counts = new Map<string, string[]>()
  for (const name of NAMES) {
    take()
    await person.run(COMMANDS[name], person.envOf(name))
    counts.set(name, take())
  }
  return counts
}

/** Passes requests on, and counts how often one began while no other was open. */
function countRequests(target: string) {
  let counts = { requests: 0, rounds: 0 }
  let open = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      counts.requests += 1
      if (open === 0) counts.rounds += 1
      open += 1
      await Bun.sleep(HELD_MS)
      const { method, headers } = request
      const body = method === 'GET' ? null : await request.arrayBuffer()
      return fetch(`${target}${pathname}${search}`, { method, headers, body }).finally(() => {
        open -= 1
      })
    },
  })
  return {
    origin: `http://127.0.0.1:${server.port}`,
    /** The requests and round trips since the previous call. */
    take: () => {
      const { requests, rounds } = counts
      counts = { requests: 0, rounds: 0 }
      return [String(requests), String(rounds)]
    },
    stop: () => server.stop(true),
  }
}

function tableOf(times: Map<string, number[]>, counts: Map<string, string[]>): string {
  const [least, usual] = [
    (name: string) => Math.min(...(times.get(name) ?? [])),
    (name: string) => median(times.get(name) ?? []),
  ]
  const over = (of: (name: string) => number, name: string) => of(name) - of('true')
  const ratio = (of: (name: string) => number, name: string) =>
    figure(over(of, name) / over(of, '--version'))
  return markdownTable(
    [
      'command',
      'least, ms',
      'median, ms',
      'least over `true`, × `--version`',
      'median over `true`, × `--version`',
      'requests',
      'round trips',
    ],
    [...times.keys()].map((name) => [
      name,
      figure(least(name)),
      figure(usual(name)),
      ratio(least, name),
      ratio(usual, name),
      ...(counts.get(name) ?? ['–', '–']),
    ]),
  )
}
