/**
 * Two processes of a version on one PostgreSQL behind a balancer, under load, are replaced by those of the next one
 * after the other. All acknowledged changes are noted, and compared at the end.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority } from '../../../src/cli/demo/certificates.ts'
import { readSecret } from '../../../src/client/environment.ts'
import { openApi } from '../../../src/client/http/api.ts'
import { openSecret } from '../../../src/client/vault.ts'
import { toPlainWorkspace } from '../../../src/client/workspace.ts'
import { type Agent, API, createAgentWithToken } from '../../support/agent.ts'
import type { TestApp } from '../../support/app.ts'
import { spawnServer } from '../../support/server_process.ts'
import { until } from '../../support/until.ts'
import { startUpstream } from '../../support/upstream.ts'
import { type Balancer, startBalancer } from './balancer.ts'

/** Command lines; without one the sources of this version. */
type Versions = {
  before?: readonly string[] | undefined
  after?: readonly string[] | undefined
  env: Record<string, string>
}

export type Outcome = {
  calls: number
  writes: number
  /** Requests that were rejected, or that lost their connection. */
  lost: string[]
  /** Acknowledged changes that are missing. */
  torn: string[]
  /** Exit codes of the replaced processes. */
  codes: (number | string)[]
}

const CALLERS = 6
const WRITERS = 3
/** The minimum number of operations of each between two steps. */
const STRIDE = 20
/** The pause between two requests of one caller: the load must be constant, without using the whole machine. */
const PAUSE_MS = 10

export const KEYS = {
  SECRET_KEY: 'upgrade-secret-key-upgrade-secret-key',
  ENCRYPTION_KEY: Buffer.alloc(32, 5).toString('base64url'),
}

export async function restartOneByOne({ before, after, env }: Versions): Promise<Outcome> {
  return await underLoad({ before, env }, 2, async ({ old, start, proceed, untilHealthy }) => {
    const codes = []
    for (const server of old) {
      server.kill('SIGTERM')
      codes.push(await server.exited)
      await proceed()
      await start(after).ready
      await untilHealthy(2)
      await proceed()
    }
    return { codes }
  })
}

type Started = ReturnType<typeof spawnServer>
type Scene = {
  old: Started[]
  /** One more process, which gets a share of the load as soon as it is healthy. */
  start(command?: readonly string[]): Started
  /** Resolves when enough calls and writes succeeded since. */
  proceed(): Promise<void>
  untilHealthy(count: number): Promise<void>
}

/** Runs the given number of previous-version processes with calls and writes during the steps. */
export async function underLoad<Found>(
  { before, env }: Omit<Versions, 'after'>,
  count: number,
  takeSteps: (scene: Scene) => Promise<Found>,
): Promise<Omit<Outcome, 'codes'> & Found> {
  const home = mkdtempSync(join(tmpdir(), 'cr-rolling-'))
  const authority = await createAuthority('Rolling')
  writeFileSync(join(home, 'ca.pem'), authority.certificate)
  const upstream = await startUpstream(authority, { names: [API] })
  const settings = {
    ...KEYS,
    ...env,
    LOG_LEVEL: 'warning',
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
    RESOLVER_HOSTS: `${API}=127.0.0.1`,
    RESOLVER_CA_FILE: join(home, 'ca.pem'),
    RATE_API: '100000/1',
    RATE_TOKEN: '100000/1',
    DRAIN_SECONDS: '1',
  }
  const control = await startBalancer('/api/status/health/')
  const resolver = await startBalancer('/healthz')
  const running: Started[] = []
  const start = (command: readonly string[] | undefined) => {
    const server = spawnServer(settings, command)
    running.push(server)
    const ready = server.ready.then((listening) => {
      control.add(listening.controlPlane)
      resolver.add(listening.resolver)
      return listening
    })
    ready.catch(() => {})
    return { ...server, ready }
  }
  let load: ReturnType<typeof startLoad> | undefined
  const untilHealthy = async (wanted: number) => {
    await until(() => control.healthy() === wanted && resolver.healthy() === wanted)
  }
  try {
    const old: Started[] = []
    for (let index = 0; index < count; index += 1) {
      const server = start(before)
      await server.ready
      old.push(server)
    }
    await untilHealthy(count)
    const app = throughBalancers(control, resolver)
    const agent = await createAgentWithToken(
      { app, authorityOf: () => `${API}:${upstream.port}` },
      { secrets: { KEY: 'of_a_rolling_restart' } },
    )
    load = startLoad(agent, resolver.origin, `https://${API}:${upstream.port}/charges`)
    await load.proceed()
    const found = await takeSteps({ old, start, proceed: load.proceed, untilHealthy })
    return { ...(await load.end()), ...found }
  } finally {
    load?.stop()
    for (const server of running) server.kill('SIGTERM')
    await Promise.all(running.map(({ exited }) => exited))
    await Promise.all([control.stop(), resolver.stop(), upstream.stop()])
    rmSync(home, { recursive: true, force: true })
  }
}

function throughBalancers(control: Balancer, resolver: Balancer): TestApp {
  const app: Pick<TestApp, 'controlPlane' | 'resolver' | 'as'> = {
    controlPlane: control.origin,
    resolver: resolver.origin,
    as: (token) => openApi(control.origin, () => token ?? null),
  }
  return app as TestApp
}

/** Calls and writes continuously, over kept connections. */
function startLoad(agent: Agent, resolver: string, target_url: string) {
  let isOver = false
  let calls = 0
  let writes = 0
  const lost: string[] = []
  const written = new Map<string, Written>()
  const body = {
    target_url,
    method: 'GET',
    headers: { Authorization: 'Bearer SVC_SECRET_KEY' },
  }
  const callOn = async () => {
    while (!isOver) {
      const answer = await agent.resolve(body, resolver).catch((error: Error) => error)
      calls += 1
      await Bun.sleep(PAUSE_MS)
      if (answer instanceof Error) lost.push(`call: ${answer.message}`)
      else if (answer.status !== 200)
        lost.push(`call: ${answer.status} ${JSON.stringify(answer.body)}`)
    }
  }
  const writeOn = async (key: string) => {
    const mine = { tried: 0, acknowledged: 0, newest: 0 }
    written.set(key, mine)
    while (!isOver) {
      mine.tried += 1
      const count = mine.tried
      await agent.store(key, `value ${count}`).then(
        () => {
          mine.acknowledged += 1
          mine.newest = count
        },
        (error: Error) => lost.push(`write: ${error.message}`),
      )
      writes += 1
      await Bun.sleep(PAUSE_MS)
    }
  }
  const names = Array.from({ length: WRITERS }, (_, index) => `WRITTEN_${index}`)
  const all = Promise.all([...Array.from({ length: CALLERS }, callOn), ...names.map(writeOn)])
  const stop = () => {
    isOver = true
  }
  return {
    /** Resolves when enough operations succeeded since. */
    proceed: async () => {
      const [c, w] = [calls + CALLERS * STRIDE, writes + WRITERS * STRIDE]
      await until(() => calls >= c && writes >= w)
    },
    stop,
    end: async () => {
      stop()
      await all
      return { calls, writes, lost, torn: await tornIn(agent, written) }
    },
  }
}

type Written = { tried: number; acknowledged: number; newest: number }

/**
 * Checks that the stored value is the last acknowledged one, or a later one with a lost answer; each left a
 * version.
 */
async function tornIn(
  { person, workspaceId, projectId, environment }: Agent,
  written: Map<string, Written>,
): Promise<string[]> {
  const workspace = toPlainWorkspace({
    id: workspaceId,
    name: '',
    epoch: 1,
    key: person.workspaceKey,
  })
  const place = { api: person.api, workspace, projectId, environment }
  const torn: string[] = []
  for (const [key, { tried, acknowledged, newest }] of written) {
    const { version, value } = await readSecret(place, key)
    const plaintext = openSecret(workspace, { ...place, key }, null, value ?? '')?.reveal()
    const stored = Number(new TextDecoder().decode(plaintext).replace('value ', ''))
    if (version < acknowledged || version > tried || stored < newest || stored > tried)
      torn.push(
        `${key}: ${version} versions, value ${stored}; ${JSON.stringify({ tried, acknowledged, newest })}`,
      )
  }
  return torn
}
