/**
 * The stage of the resolver's tests: the whole application, an external API, and a person whose agent has a
 * provisioned token. Keys, envelopes and ciphertexts are created by the client's own code.
 */
import { expect } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Authority, createAuthority } from '../../src/cli/demo/certificates.ts'
import { grantEnvironment, sealSecret } from '../../src/client/vault.ts'
import { systemTimers, type Timers } from '../../src/core/async/timers.ts'
import type { Capability } from '../../src/core/capability.ts'
import { type FaultCode, type Fix, messageOf, statusOf } from '../../src/core/fault.ts'
import { parseDomain } from '../../src/core/net/domain.ts'
import type { Policy } from '../../src/core/policy/policy.ts'
import type { TokenLimits } from '../../src/core/token_limits.ts'
import {
  issueAgentToken,
  provisionAgentToken,
  registerAgent,
  registerProjectAgent,
  revokeAgentToken,
} from '../../src/features/agents/contract.ts'
import { addToAllowlist, removeFromAllowlist } from '../../src/features/allowlist/contract.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { upsertSecrets } from '../../src/features/secrets/contract.ts'
import { adviceFor } from '../../src/http/advice.ts'
import { parseTarget } from '../../src/outbound/target.ts'
import { type Answer, startTestApp, type TestApp, UNLIMITED } from './app.ts'
import { preparedDatabase, type TestDatabase } from './database.ts'
import { type Person, registerPerson } from './people.ts'
import { databasePlace } from './places.ts'
import { until } from './until.ts'
import { startUpstream, type Upstream } from './upstream.ts'

export const API = 'api.upstream.example'

export type Stage = {
  app: TestApp
  authority: Authority
  caFile: string
  upstream: Upstream
  /** `host:port` of the upstream under its usual name. */
  authorityOf(host?: string): string
  url(path: string, host?: string): string
  /** Addresses by name; a missing name does not exist. */
  names: Map<string, string[] | (() => Promise<string[]>)>
  /** The time to live of addresses in seconds; none by default. */
  ttls: Map<string, number>
  /** Every name that was looked up, in order. */
  lookups: string[]
  stop(): Promise<void>
}

type StageOptions = {
  env?: Record<string, string>
  /** Additional names in the upstream's certificate. */
  names?: readonly string[]
  /** The test's own; the system's by default. */
  timers?: Timers
}

/** The network of an app: its names, and the authority that signs its certificates. */
type World = Pick<Stage, 'names' | 'ttls' | 'lookups' | 'authority' | 'caFile'> & {
  directory: string
}

/** A separate app with settings. Use `sharedStage` if the default settings suffice. */
export async function openStage({
  env = {},
  names = [],
  timers,
}: StageOptions = {}): Promise<Stage> {
  const world = await openWorld()
  const app = await startIn(world, env, timers)
  const stage = await stageIn(world, app, names)
  return {
    ...stage,
    stop: async () => {
      await app.stop()
      await stage.stop()
      rmSync(world.directory, { recursive: true, force: true })
    },
  }
}

let shared: Promise<{ world: World; app: TestApp }> | undefined
/** The timers of the open stage. */
let sharedTimers: Timers = systemTimers
const currentTimers: Timers = {
  setTimer: (...args) => sharedTimers.setTimer(...args),
  setRepeating: (...args) => sharedTimers.setRepeating(...args),
  sleep: (ms) => sharedTimers.sleep(ms),
}

/**
 * A stage on the one application that all stages of this process share, with a separate upstream. One is open at a
 * time: `stop` closes the upstream, and the application stays. `app.logs` and `lookups` begin empty.
 */
export async function sharedStage({
  names = [],
  timers = systemTimers,
}: Omit<StageOptions, 'env'> = {}): Promise<Stage> {
  shared ??= openWorld().then(async (world) => {
    const database = await preparedDatabase({ isKept: true })
    return { world, app: await startIn(world, UNLIMITED, currentTimers, database) }
  })
  const { world, app } = await shared
  app.clock.reset()
  for (const state of [world.names, world.ttls]) state.clear()
  for (const state of [world.lookups, app.logs]) state.length = 0
  const stage = await stageIn(world, { ...app, stop: async () => {} }, names)
  sharedTimers = timers
  return {
    ...stage,
    stop: async () => {
      sharedTimers = systemTimers
      await stage.stop()
    },
  }
}

async function openWorld(): Promise<World> {
  const directory = mkdtempSync(join(databasePlace, 'cr-stage-'))
  const caFile = join(directory, 'ca.pem')
  const authority = await createAuthority('Test authority')
  writeFileSync(caFile, authority.certificate)
  return { directory, caFile, authority, names: new Map(), ttls: new Map(), lookups: [] }
}

function startIn(
  { caFile, names, ttls, lookups }: World,
  env: Record<string, string>,
  timers: Timers | undefined,
  database?: TestDatabase,
): Promise<TestApp> {
  const lookup = async (host: string) => {
    lookups.push(host)
    const found = names.get(host)
    if (!found) throw Object.assign(new Error('not found'), { code: 'DNS_ENOTFOUND' })
    const addresses = typeof found === 'function' ? await found() : found
    return addresses.map((address) => ({ address, ttl: ttls.get(host) ?? 0 }))
  }
  const networks = { RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32', RESOLVER_CA_FILE: caFile }
  return startTestApp({ ...networks, ...env }, { lookup, timers, ...(database && { database }) })
}

/** An upstream beside the app, whose names resolve to it. */
async function stageIn(
  { directory: _, ...world }: World,
  app: TestApp,
  more: readonly string[],
): Promise<Stage> {
  const all = [API, ...more]
  const upstream = await startUpstream(world.authority, { names: all })
  for (const name of all) world.names.set(name, ['127.0.0.1'])
  const authorityOf = (host = API) => `${host}:${upstream.port}`
  const url = (path: string, host?: string) => `https://${authorityOf(host)}${path}`
  return { ...world, app, upstream, authorityOf, url, stop: upstream.stop }
}

export type Agent = {
  person: Person
  workspaceId: string
  projectId: string
  environment: string
  token: string
  tokenId: string
  registrationId: string
  /** POST /v1/resolve as this agent. */
  resolve(body: unknown, origin?: string): Promise<Answer>
  allow(...domains: string[]): Promise<void>
  disallow(domain: string): Promise<void>
  /** Seals and uploads a secret; in the agent's project and environment by default. */
  store(key: string, value: string, options?: StoreOptions): Promise<void>
  addProject(name: string): Promise<string>
  /** Gives a token the key of a project's environment. */
  provision(token?: IssuedToken, projectId?: string, environment?: string): Promise<void>
  /** One more token of this agent. */
  issue(order?: TokenOrder): Promise<IssuedToken>
  revoke(tokenId?: string): Promise<void>
}

type TokenOrder = {
  environment?: string
  expires_in_days?: number | null
  capabilities?: Capability[]
  hosts?: string[]
  secrets?: string[]
  limits?: Partial<TokenLimits>
}

export type IssuedToken = { text: string; id: string; publicKey: string }
type StoreOptions = { policy?: Policy; projectId?: string; environment?: string }

type AgentOptions = {
  /** Values by name, stored before the first call. */
  secrets?: Record<string, string>
  /** Domains of the allowlist; the upstream's by default. */
  domains?: readonly string[]
  /** Whether the token belongs to the project; otherwise to the whole workspace. */
  ofProject?: boolean
  /** The capabilities of the first token; the usual ones of an agent's token by default. */
  capabilities?: Capability[]
}

const ENVIRONMENT = 'development'
let counter = 0

/** A person with a project, secrets and an allowlist, and an agent whose token can open them. */
export async function createAgentWithToken(
  { app, authorityOf }: Pick<Stage, 'app' | 'authorityOf'>,
  { secrets = {}, domains = [authorityOf()], ofProject = false, capabilities }: AgentOptions = {},
): Promise<Agent> {
  counter += 1
  const person = await registerPerson(app, 'employer')
  const { api, workspaceId } = person
  const workspace = { id: workspaceId, name: '', epoch: 1, key: person.workspaceKey }
  const params = { workspace_id: workspaceId }
  const addProject = async (name: string) =>
    (await api.call(createProject, { body: { name, workspace_id: workspaceId } })).id
  const projectId = await addProject('main')
  const may = capabilities ? { capabilities } : {}
  const order = { params, body: { name: `agent-${counter}`, ...may } }
  const registered = ofProject
    ? await api.call(registerProjectAgent, {
        ...order,
        params: { ...params, project_id: projectId },
      })
    : await api.call(registerAgent, order)
  const first = issued(registered)
  const ofAgent = { ...params, registration_id: registered.agent.id }
  const agent: Agent = {
    person,
    workspaceId,
    projectId,
    environment: ENVIRONMENT,
    token: first.text,
    tokenId: first.id,
    registrationId: registered.agent.id,
    resolve: (body, origin = app.resolver) => resolveAs(origin, first.text, body),
    allow: async (...added) => {
      await api.call(addToAllowlist, { params, body: { domains: added } })
    },
    disallow: async (domain) => {
      await api.call(removeFromAllowlist, { params: { ...params, domain } })
    },
    store: async (key, value, options = {}) => {
      const { policy = null, projectId: project = projectId, environment = ENVIRONMENT } = options
      const place = { projectId: project, environment, key }
      const sealed = sealSecret(workspace, place, policy, value)
      const body = { project_id: project, environment, secrets: [{ key, value: sealed, policy }] }
      await api.call(upsertSecrets, { body })
    },
    addProject,
    provision: async (token = first, project = projectId, environment = ENVIRONMENT) => {
      const grant = await grantEnvironment(null, workspace, token, {
        projectId: project,
        environment,
      })
      await api.call(provisionAgentToken, {
        params: { ...ofAgent, token_id: token.id },
        body: [grant],
      })
    },
    issue: async (body = {}) => issued(await api.call(issueAgentToken, { params: ofAgent, body })),
    revoke: async (tokenId = first.id) => {
      await api.call(revokeAgentToken, { params: { ...ofAgent, token_id: tokenId } })
    },
  }
  await agent.provision()
  for (const [key, value] of Object.entries(secrets)) await agent.store(key, value)
  if (domains.length > 0) await agent.allow(...domains)
  return agent
}

function issued(order: { token: string | null; token_id: string; public_key: string }) {
  return { text: order.token ?? '', id: order.token_id, publicKey: order.public_key }
}

/** POST /v1/resolve with any token and any JSON. */
export async function resolveAs(origin: string, token: string, body: unknown): Promise<Answer> {
  const response = await fetch(`${origin}/v1/resolve`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, body: await response.json(), headers: response.headers }
}

export type AuditRow = Record<string, unknown>

/** The audit record of a call, once its outcome is stored; `null` when the call left none. */
export async function recordOf(
  { connection: { sql }, flushAudit }: Pick<TestApp, 'connection' | 'flushAudit'>,
  { headers }: Pick<Answer, 'headers'>,
): Promise<AuditRow | null> {
  const id = headers.get('x-request-id') ?? ''
  const [row] = await until(async () => {
    await flushAudit()
    const rows = await sql<AuditRow[]>`select * from audit_logs where id = ${id}`
    return rows[0]?.status_code !== null && rows
  })
  return row ?? null
}

/** The message of an error: for a domain it names the domain, for a target it names the error. */
function sentenceOf(code: FaultCode, body: unknown): string {
  if (code !== 'domain_blocked' && code !== 'invalid_target') return messageOf(code)
  const { target_url } = body as { target_url: string }
  if (code === 'invalid_target') return objectionTo(target_url)
  const { host, port } = parseTarget(target_url)
  return `${host}:${port} is not on the allowlist of the workspace.`
}

function objectionTo(targetUrl: string): string {
  try {
    parseTarget(targetUrl)
    return 'nothing: it is accepted'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** The rule in the record of a policy's rejection, from which a person may propose to allow the call. */
function ruleIn(message: string): unknown {
  const [, secret] = /secret (\w+)/.exec(message) ?? []
  const [, rule = expect.stringMatching(/^[a-z_]+$/)] = /\((\w+): /.exec(message) ?? []
  return { secret, rule }
}

const HAVE_FIXES: readonly FaultCode[] = ['domain_blocked', 'key_not_provisioned']

/** The command that removes the cause, for codes that always have one. An IP address cannot be allowed. */
function fixFor(code: FaultCode, body: unknown): unknown {
  if (code === 'domain_blocked') {
    const { host, port } = parseTarget((body as { target_url: string }).target_url)
    const domain = parseDomain(`${host}:${port}`)
    return domain ? { command: ['cloakroom', 'allowlist', 'add', domain.text] } : undefined
  }
  if (code === 'key_not_provisioned')
    return { command: expect.arrayContaining(['cloakroom', 'token', 'grant', '-e']) }
  return undefined
}

/**
 * Makes the call and compares the whole rejection: status, body, headers, an audit record with the same data, and an
 * upstream that received no byte.
 */
export async function expectRefused(
  stage: Stage,
  agent: Agent,
  body: unknown,
  code: FaultCode,
  message: string = sentenceOf(code, body),
): Promise<AuditRow> {
  const sent = stage.upstream.bytes
  const answer = await agent.resolve(body)
  const { fix, ...refused } = answer.body as { fix?: Fix }
  expect({ status: answer.status, body: refused }).toEqual({
    status: statusOf(code),
    body: { error_code: code, message, ...adviceFor(code) },
  })
  if (HAVE_FIXES.includes(code)) expect(fix).toEqual(fixFor(code, body) as Fix)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const record = await recordOf(stage.app, answer)
  expect(record).toMatchObject({
    decision: statusOf(code) === 403 ? 'blocked' : 'error',
    reason: code,
    status_code: statusOf(code),
    redacted: false,
    source: 'resolver',
    workspace_id: agent.workspaceId,
    token_id: agent.tokenId,
    registration_id: agent.registrationId,
    refused_by: code === 'policy_blocked' ? ruleIn(message) : null,
  })
  expect(stage.upstream.bytes).toBe(sent)
  return record ?? {}
}
