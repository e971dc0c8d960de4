// tier: all, both databases in test:all
/** WORKERS: several processes behave like one, and an ended one is replaced. PostgreSQL only. */
import { expect, test } from 'bun:test'
import { marked } from '../support/canary.ts'
import { databaseKind, freshDatabase } from '../support/database.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'
import { executable, type Program, runProgram, startProgram } from './executable.ts'
import {
  type AgentToken,
  type Customer,
  createAgent,
  enrol,
  readAudit,
} from './independent_client.ts'
import { allow, KEYS, openScene, resolveAs, type Scene } from './scene.ts'

const WORKERS = 3
const inUse = (variable: string, port: number) =>
  `cloakroom: ${variable}: port ${port} is in use by another program; set another, or 0 for a free one (example: ${variable}=${port + 1})\n`

type Line = {
  message: string
  pid: number
  route?: string
  status?: number
  worker?: number
  worker_pid?: number
}

function linesOf(program: Program): Line[] {
  const whole = program.log().split('\n').slice(0, -1)
  return whole.map((line): Line => JSON.parse(line))
}

function workersOf(program: Program): number[] {
  const started = linesOf(program).filter(({ message }) => message === 'worker started')
  return started.flatMap(({ worker_pid }) => worker_pid ?? [])
}

/** Calls on separate connections until every one of `pids` has answered. Returns the statuses. */
async function callUntilAll(
  program: Program,
  pids: readonly number[],
  call: () => Promise<number>,
): Promise<Set<number>> {
  const from = linesOf(program).length
  const statuses = new Set<number>()
  for (;;) {
    statuses.add(await call())
    const answering = linesOf(program)
      .slice(from)
      .filter(({ message }) => message === 'request')
    if (pids.every((pid) => answering.some((line) => line.pid === pid))) return statuses
  }
}

async function callAlone(url: string, init: RequestInit = {}): Promise<number> {
  const response = await fetch(url, { ...init, keepalive: false })
  await response.body?.cancel()
  return response.status
}

const health = (program: Program) => callAlone(`${program.controlPlane}/api/status/health/`)

if (databaseKind === 'embedded') {
  test('WORKERS with the embedded database ends with 78, and names the fix', async () => {
    const { env, remove } = await freshDatabase()
    expect(await runProgram({ env: { ...KEYS, ...env, WORKERS: '2' } })).toEqual({
      code: 78,
      stdout: '',
      stderr: 'cloakroom: WORKERS: more than 1 needs PostgreSQL: set DB_HOST (example: 1)\n',
    })
    remove()
  }, 60_000)
}

{
  const { describe, test, beforeAll, afterAll } = requires('postgresql')
  describe('workers', () => {
    let scene: Scene
    let program: Program
    let customer: Customer
    let agent: AgentToken

    const start = () => startProgram({ env: { ...scene.env, WORKERS: String(WORKERS) } })
    const resolve = (target_url = scene.url('/plain')) =>
      callAlone(`${program.resolver}/v1/resolve`, {
        method: 'POST',
        headers: { authorization: `Bearer ${agent.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          target_url,
          headers: { authorization: 'Bearer SVC_SECRET_API_KEY' },
        }),
      })

    beforeAll(async () => {
      await executable()
      scene = await openScene()
      program = await start()
      customer = await enrol(program.controlPlane)
      await customer.upload({ API_KEY: marked('sk_live_of_workers') })
      await allow(scene, customer)
      agent = await createAgent(customer)
    }, 60_000)
    afterAll(async () => {
      program.signal('SIGKILL')
      await program.ended
      await scene.close()
    })

    test('all workers serve the same ports, the supervisor none', async () => {
      const pids = workersOf(program)
      expect(new Set(pids).size).toBe(WORKERS)
      expect(pids).not.toContain(program.pid)
      expect(await callUntilAll(program, pids, () => health(program))).toEqual(new Set([200]))
      expect(await callUntilAll(program, pids, () => resolve())).toEqual(new Set([200]))
      const answering = linesOf(program).filter(({ message }) => message === 'request')
      expect(answering.filter(({ pid }) => pid === program.pid)).toEqual([])
    }, 60_000)

    test('no worker can be routed to a listener that the workers share', async () => {
      const own = `${scene.authority.split(':')[0]}:${new URL(program.controlPlane).port}`
      const path = `/api/workspaces/${customer.workspaceId}/allowlist/`
      await customer.call('POST', path, { domain: own })
      const call = () => resolve(`https://${own}/`)
      expect(await callUntilAll(program, workersOf(program), call)).toEqual(new Set([403]))
    }, 60_000)

    test('a revoke on one worker applies to all once it is acknowledged', async () => {
      const pids = workersOf(program)
      expect(await callUntilAll(program, pids, () => resolve())).toEqual(new Set([200]))
      const agents = `/api/workspaces/${customer.workspaceId}/agents`
      await customer.call('DELETE', `${agents}/${agent.registrationId}/tokens/${agent.tokenId}/`)
      expect(await callUntilAll(program, pids, () => resolve())).toEqual(new Set([401]))
      agent = await createAgent(customer)
    }, 60_000)

    test('a killed worker is replaced, and requests continue meanwhile', async () => {
      const [victim = 0, ...others] = workersOf(program)
      process.kill(victim, 'SIGKILL')
      await program.until(`"message":"worker ended","worker":0,"worker_pid":${victim}`)
      expect(await callUntilAll(program, others, () => health(program))).toEqual(new Set([200]))
      const isNew = ({ worker_pid = 0 }: Line) => ![0, victim, ...others].includes(worker_pid)
      await until(() => linesOf(program).some(isNew))
      const replacement = linesOf(program).find(isNew)
      expect(replacement?.worker).toBe(0)
      const all = [replacement?.worker_pid ?? 0, ...others]
      expect(await callUntilAll(program, all, () => resolve())).toEqual(new Set([200]))
    }, 60_000)

    test('SIGTERM lets a running request finish on any worker, and ends all with 0', async () => {
      const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      scene.upstream.on('/slow', async (_, wire) => {
        arrive()
        await released
        wire.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nslow')
      })
      const answer = resolveAs(agent, program.resolver, scene.url('/slow'))
      await arrived
      program.signal('SIGTERM')
      await program.until('"message":"stopping"')
      release()
      expect(await answer).toMatchObject({ status_code: 200, body: 'slow' })
      expect((await program.ended).code).toBe(0)
      expect(linesOf(program).filter(({ message }) => message === 'stopped')).toHaveLength(
        WORKERS + 1,
      )
      program = await start()
      customer.moveTo(program.controlPlane)
      const [newest] = await readAudit(customer)
      expect(newest).toMatchObject({ target_path: '/slow', decision: 'allowed', status_code: 200 })
    }, 60_000)

    test('a killed supervisor leaves no worker behind', async () => {
      program.signal('SIGKILL')
      // The workers share standard error, which ends with the last of them.
      const { stderr } = await program.ended
      expect(stderr.match(/"message":"stopped","code":0/g)).toHaveLength(WORKERS)
      program = await start()
      customer.moveTo(program.controlPlane)
    }, 60_000)

    test('ports of another program, or of a second start, end with one line and 1', async () => {
      const taken = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('') })
      const ports = [String(taken.port), new URL(program.controlPlane).port]
      for (const PORT of ports) {
        const env = { ...scene.env, WORKERS: '2', PORT, RESOLVER_PORT: '0' }
        const stderr = inUse('PORT', Number(PORT))
        expect(await runProgram({ env })).toEqual({ code: 1, stdout: '', stderr })
      }
      const last = taken.port ?? 0
      const figures = { PORT: '0', RESOLVER_PORT: '0', ADMIN_PORT: String(last - 1) }
      expect(await runProgram({ env: { ...scene.env, WORKERS: '2', ...figures } })).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining(inUse('ADMIN_PORT', last)),
      })
      await taken.stop(true)
      expect(await health(program)).toBe(200)
    }, 60_000)

    test('a worker that cannot start ends all of them, with its line and its code', async () => {
      const settings = { WORKERS: '2', PORT: '0', RESOLVER_PORT: '0', RESOLVER_CA_FILE: '/missing' }
      const env = { ...scene.env, ...settings, LOG_LEVEL: 'error' }
      const { code, stdout, stderr } = await runProgram({ env })
      expect({ code, stdout }).toEqual({ code: 78, stdout: '' })
      expect(stderr).toMatch(/^(cloakroom: RESOLVER_CA_FILE: .+\n){1,2}$/)
    }, 60_000)
  })
}
