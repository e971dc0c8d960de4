/**
 * The stage of the proxy's tests: the application, an external API, a person with credentials and an agent, and
 * proxies of either kind in this process.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toPlainWorkspace } from '../../src/client/workspace.ts'
import { systemTimers, type Timers } from '../../src/core/async/timers.ts'
import { BodyMemory } from '../../src/core/body_memory.ts'
import { listAuditLogs } from '../../src/features/audit/contract.ts'
import type { Backend } from '../../src/proxy/backend.ts'
import { type LocalProxy, openProxy } from '../../src/proxy/index.ts'
import { type LocalOptions, openLocalBackend } from '../../src/proxy/local/open.ts'
import { openUpload } from '../../src/proxy/outbox/upload.ts'
import { createRemoteBackend } from '../../src/proxy/remote.ts'
import { StandIns, withStandIns } from '../../src/proxy/stand_ins/index.ts'
import { trustEnvironment, writeBundle } from '../../src/proxy/trust.ts'
import { type Agent, API, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'
import { marked, searchFiles } from '../support/canary.ts'
import { watched } from '../support/watched.ts'

export const KEY = marked('sk_live_T0PSECRETvalue+/9')
/** The folder of a stage's directory for an upstream's output with its values in it. */
export const REVEALED = 'revealed'
export const OTHER = 'other.upstream.example'

export type ProxyStage = Stage & {
  agent: Agent
  /** A directory for this test file's authority and queues. */
  directory: string
  /** The environment of a proxy that must find the upstream. */
  networking: Record<string, string>
  open(way: 'local' | 'remote', options?: OpenOptions): Promise<OpenProxy>
  /** Audit records of the workspace that clients reported or the resolver wrote, oldest first. */
  records(source: 'client' | 'resolver'): Promise<Recorded[]>
}

type OpenOptions = {
  strict?: boolean
  /** Whether its program has stand-ins. */
  standIns?: boolean
  /** The directory in which audit records wait. */
  auditDirectory?: string
  networking?: Record<string, string>
  /** The address of the resolver, if not its own. */
  resolver?: string
  /** A local backend's clock and timers. */
  time?: LocalOptions['time']
  named?: NonNullable<LocalOptions['place']['agent']>
}

export type OpenProxy = LocalProxy & {
  bundle: string
  notices: string[]
  /** By name. */
  standIns: Record<string, string>
  bodies: BodyMemory
}
export type Recorded = Awaited<ReturnType<typeof readRecords>>[number]

/**
 * @param names additional ones of the upstream
 * @param timers of the application
 */
export async function openProxyStage(
  names: readonly string[] = [],
  timers: Timers = systemTimers,
): Promise<ProxyStage> {
  const stage = await sharedStage({ names: [OTHER, ...names], timers })
  const agent = await createAgentWithToken(stage, { secrets: { KEY, LOGIN: 'pass:word' } })
  const directory = mkdtempSync(join(tmpdir(), 'cr-proxy-'))
  const networking = {
    RESOLVER_HOSTS: [API, ...names].map((name) => `${name}=127.0.0.1`).join(','),
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
    RESOLVER_CA_FILE: stage.caFile,
  }
  const opened: LocalProxy[] = []
  return {
    ...stage,
    agent,
    directory,
    networking,
    open: async (way, { strict = false, standIns = false, ...options } = {}) => {
      const notices: string[] = []
      const notice = (text: string) => void notices.push(text)
      const parts = { networking, auditDirectory: join(directory, 'audit'), notice, ...options }
      const backend =
        way === 'remote'
          ? remoteOf(options.resolver ?? stage.app.resolver, agent, notice)
          : localOf(stage, agent, parts)
      const drawn = standIns ? await StandIns.draw(await backend.credentials()) : null
      const through = drawn ? withStandIns(backend, drawn) : backend
      const proxy = await openProxy({ backend: through, directory, port: 0, strict })
      opened.push(proxy)
      const texts = Object.fromEntries(drawn?.all.map(({ name, text }) => [name, text]) ?? [])
      const bundle = writeBundle(directory, proxy.certificate, process.env)
      return { ...proxy, notices, bundle, standIns: texts, bodies: backend.bodies }
    },
    records: (source) => readRecords(agent, source),
    stop: async () => {
      for (const proxy of opened) await proxy.close()
      await stage.stop()
      searchFiles('state', directory, [REVEALED])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function remoteOf(resolver: string, agent: Agent, notice: (text: string) => void): Backend {
  return createRemoteBackend({
    resolver,
    token: agent.token,
    projectId: null,
    environment: null,
    notice,
    bodies: new BodyMemory(undefined, 1),
    close: async () => {},
  })
}

type LocalParts = {
  auditDirectory: string
  networking: Record<string, string>
  notice: (text: string) => void
  time?: LocalOptions['time']
  named?: LocalOptions['place']['agent']
}

function localOf(
  { app: { controlPlane: server } }: Stage,
  agent: Agent,
  { auditDirectory, networking, notice, time, named = null }: LocalParts,
): Backend {
  const { api, token, email, workspaceKey: key } = agent.person
  const workspace = toPlainWorkspace({ id: agent.workspaceId, name: '', epoch: 1, key })
  return openLocalBackend({
    place: {
      api,
      workspace: async () => workspace,
      projectId: agent.projectId,
      environment: agent.environment,
      agent: named,
    },
    owner: { server, email, workspace_id: agent.workspaceId, agent: null },
    upload: openUpload({
      server,
      api,
      access: () => token,
      tokenFor: () => Promise.reject(new Error('no agent was named')),
    }),
    directory: auditDirectory,
    env: networking,
    ownPorts: () => [],
    notice,
    time,
  })
}

async function readRecords({ person, workspaceId }: Agent, source: 'client' | 'resolver') {
  const query = { workspace_id: workspaceId }
  const all = await person.api.list(listAuditLogs, { query })
  return all.filter((record) => record.source === source).reverse()
}

export type Ending = { code: number; out: string; err: string }

type Reached = Pick<OpenProxy, 'url' | 'bundle'>

/** Runs a program with the proxy in its environment. */
export async function runWith(
  proxy: Reached,
  command: readonly string[],
  env: Record<string, string> = {},
): Promise<Ending> {
  const child = startWith(proxy, command, env)
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, out, err }
}

export function startWith(
  { url, bundle }: Reached,
  command: readonly string[],
  env: Record<string, string> = {},
) {
  const { PATH = '' } = process.env
  return watched(
    Bun.spawn([...command], {
      env: { PATH, HTTPS_PROXY: url, ...trustEnvironment(bundle), ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
}
