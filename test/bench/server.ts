/** The product as the benches start it: `cloakroom serve` in a process of its own, on free ports. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import type * as vault from '../../src/client/vault.ts'
import { provisionAgentToken, registerAgent } from '../../src/features/agents/contract.ts'
import { addToAllowlist } from '../../src/features/allowlist/contract.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { upsertSecrets } from '../../src/features/secrets/contract.ts'
import { runtimeSettings } from '../../src/server/clean_environment.ts'
import { type Running, startProcess } from './processes.ts'

export const ENVIRONMENT = 'development'

const ROOT = join(import.meta.dir, '../..')

export type Server = { pid: number; controlPlane: string; resolver: string; stop(): Promise<void> }

/** Limits that a load generator does not reach, and keys. */
export function benchSettings(): Record<string, string> {
  return {
    SECRET_KEY: randomBytes(32).toString('hex'),
    ENCRYPTION_KEY: randomBytes(32).toString('base64url'),
    PORT: '0',
    RESOLVER_PORT: '0',
    RATE_TOKEN: '9999999/1',
    RATE_API: '9999999/1',
    RATE_LOGIN: '9999999/1',
    RATE_REGISTER: '9999999/1',
  }
}

type Command = {
  executable?: string | undefined
  /** A checkout other than this one. */
  directory?: string | undefined
  /** Where a CPU profile goes when the server has stopped. */
  profile?: string | undefined
}

/** `cloakroom serve`, from the sources unless told otherwise. */
export function serverCommand({ executable, directory, profile }: Command = {}): string[] {
  if (executable) return [executable, 'serve']
  const profiling = profile
    ? ['--cpu-prof', `--cpu-prof-dir=${dirname(profile)}`, `--cpu-prof-name=${basename(profile)}`]
    : []
  return [process.execPath, ...profiling, join(directory ?? ROOT, 'src/main.ts'), 'serve']
}

const BANNER = /control plane {2}(?<controlPlane>\S+)\n {2}resolver {7}(?<resolver>\S+)\n/

/** Its log goes to a file, as it would under a service manager. */
export async function startServer(
  env: Record<string, string>,
  cmd: string[] = serverCommand(),
): Promise<Server> {
  const directory = mkdtempSync(join(tmpdir(), 'cr-bench-log-'))
  const running = await startProcess(cmd, {
    // Set, it starts in the clean environment at once: the options of the runtime stay.
    env: { ...runtimeSettings, ...env },
    ready: BANNER,
    log: join(directory, 'server.log'),
  })
  return { ...originsOf(running), stop: stopAndRemove(running, directory) }
}

function originsOf({ pid, ready }: Running) {
  return { pid, controlPlane: ready.controlPlane ?? '', resolver: ready.resolver ?? '' }
}

function stopAndRemove(running: Running, directory: string): () => Promise<void> {
  return async () => {
    await running.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

export type Customer = {
  client: typeof vault
  session: vault.Session
  workspace: vault.OpenWorkspace
  projectId: string
}

export const PASSWORD = 'a passphrase for benches only'

/** Somebody with a workspace and a project. The server of another checkout is called by its own client. */
export async function registerCustomer(server: Server, directory = ROOT): Promise<Customer> {
  const client: typeof vault = await import(resolve(directory, 'src/client/vault.ts'))
  const email = `customer-${randomBytes(6).toString('hex')}@example.com`
  await client.signUp(server.controlPlane, email, PASSWORD, false)
  const session = await client.logIn(server.controlPlane, email, PASSWORD)
  const [workspace] = session.workspaces
  if (!workspace) throw new Error('no workspace opened')
  const body = { name: 'bench', workspace_id: workspace.id }
  const project = await session.api.call(createProject, { body })
  return { client, session, workspace, projectId: project.id }
}

/** The body that stores these secrets. */
export function sealedSecrets(
  { client, workspace, projectId }: Customer,
  values: Readonly<Record<string, string>>,
  environment = ENVIRONMENT,
) {
  const secrets = Object.entries(values).map(([key, value]) => {
    const place = { projectId, environment, key }
    return { key, value: client.sealSecret(workspace, place, null, value) }
  })
  return { project_id: projectId, environment, secrets }
}

/** Stores the secrets, allows the domain, and returns the token of an agent that may use both. */
export async function employAgent(
  customer: Customer,
  values: Readonly<Record<string, string>>,
  domain: string,
): Promise<string> {
  const [token = ''] = await employAgents(customer, values, domain, 1)
  return token
}

/** The same for so many agents. */
export async function employAgents(
  customer: Customer,
  values: Readonly<Record<string, string>>,
  domain: string,
  count: number,
): Promise<string[]> {
  const { session, workspace } = customer
  const params = { workspace_id: workspace.id }
  await session.api.call(upsertSecrets, { body: sealedSecrets(customer, values) })
  await session.api.call(addToAllowlist, { params, body: { domain } })
  const tokens: string[] = []
  for (let agent = 0; agent < count; agent += 1) {
    tokens.push(await issueToken(customer, `bench-agent-${agent}`))
  }
  return tokens
}

async function issueToken(customer: Customer, name: string): Promise<string> {
  const { client, session, workspace, projectId } = customer
  const params = { workspace_id: workspace.id }
  const agent = await session.api.call(registerAgent, {
    params,
    body: { name, capabilities: ['use', 'read'] },
  })
  const token = { id: agent.token_id, publicKey: agent.public_key }
  await session.api.call(provisionAgentToken, {
    params: { ...params, registration_id: agent.agent.id, token_id: token.id },
    body: [await client.grantEnvironment(workspace, token, projectId, ENVIRONMENT)],
  })
  return agent.token ?? ''
}
