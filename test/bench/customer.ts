/** People and agents in the benches, created by the client of this checkout, in a signed or a plain workspace. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import * as ownLogIn from '../../src/client/account/log_in.ts'
import { allowHosts } from '../../src/client/actions/allowlist.ts'
import { uploadSecrets } from '../../src/client/actions/set_secrets.ts'
import { makeToken } from '../../src/client/agents/tokens.ts'
import { releaseRequest } from '../../src/client/approvals/release.ts'
import { readVerifiedRequest } from '../../src/client/approvals/verify.ts'
import type { EnvironmentPlace } from '../../src/client/environment.ts'
import { createKnownChains, type KnownEntry } from '../../src/client/signed/known_chains.ts'
import { chainsOf } from '../../src/client/signed/trust.ts'
import {
  type OpenWorkspace,
  toPlainWorkspace,
  toSignedWorkspace,
} from '../../src/client/workspace.ts'
import type { WorkspaceKey } from '../../src/client/workspace_key.ts'
import type { Policy } from '../../src/core/policy/policy.ts'
import { registerAgent } from '../../src/features/agents/contract.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { identityOf } from '../../src/sigchain/index.ts'
import type { Shot } from './load.ts'
import type { Server } from './server.ts'

export const ENVIRONMENT = 'development'
/** Secrets in an environment. */
export const COUNT = 100
export const PASSWORD = 'a passphrase for benches only'

export type Customer = {
  session: ownLogIn.OpenSession
  workspace: OpenWorkspace
  projectId: string
}

/** `plain` creates a workspace the way older clients did; with a directory, the client of that checkout registers one. */
export type Kind = 'signed' | 'plain' | { directory: string }

/** A person with a workspace and a project. */
export async function registerCustomer(
  server: Pick<Server, 'controlPlane'>,
  kind: Kind,
): Promise<Customer> {
  const client: typeof ownLogIn =
    typeof kind === 'string' ? ownLogIn : await import(clientIn(kind.directory))
  const email = `customer-${randomBytes(6).toString('hex')}@example.com`
  await client.signUp(server.controlPlane, email, PASSWORD, kind === 'signed')
  const session = await client.logInByPassword(server.controlPlane, email, PASSWORD)
  const [opened] = session.workspaces
  if (!opened) throw new Error('no workspace opened')
  const workspace = kind === 'signed' ? signing(session, opened) : toPlainWorkspace(opened)
  const body = { name: 'bench', workspace_id: workspace.id }
  const project = await session.api.call(createProject, { body })
  return { session, workspace, projectId: project.id }
}

/** The module with registration and login in a checkout: in older ones the module that seals and opens. */
function clientIn(directory: string): string {
  const newer = resolve(directory, 'src/client/account/log_in.ts')
  return existsSync(newer) ? newer : resolve(directory, 'src/client/vault.ts')
}

/** The signing that a command line session adds to a signed workspace. It is kept in memory. */
function signing({ api, seed }: ownLogIn.OpenSession, workspace: WorkspaceKey) {
  if (seed === null) throw new Error('the account cannot sign')
  const entries = new Map<string, KnownEntry>()
  const known = createKnownChains({
    of: (id) => entries.get(id),
    put: (id, change) => {
      const next = change(entries.get(id))
      if (next) entries.set(id, next)
    },
  })
  const chains = chainsOf(api, known, { met: () => {}, rekeyed: () => {} })
  return toSignedWorkspace(workspace, { chains, identity: () => identityOf(seed) })
}

/** The headers of each of the customer's requests. */
export function headersOf({ session }: Customer): Record<string, string> {
  return { authorization: `Bearer ${session.access}`, 'content-type': 'application/json' }
}

/** A hundred secrets by default. */
export function valuesOf(word: string, count = COUNT): Record<string, string> {
  const names = Array.from({ length: count }, (_, index) => `SECRET_${index}`)
  return Object.fromEntries(names.map((name) => [name, `${word}-${crypto.randomUUID()}`]))
}

/** Stores secrets the way the command line does: each request carries the manifest of its result. */
export async function storeSecrets(
  { session: { api }, workspace, projectId }: Customer,
  values: Readonly<Record<string, string>>,
  environment = ENVIRONMENT,
  policy: Policy | null = null,
): Promise<void> {
  const place: EnvironmentPlace = { api, workspace, projectId, environment }
  const entries = Object.entries(values).map(([key, value]) => ({ key, value, policy }))
  await uploadSecrets(place, entries, true)
}

/** Stores the secrets, allows the domain, and returns the tokens of the given number of agents with access to both. */
export async function employAgents(
  customer: Customer,
  values: Readonly<Record<string, string>>,
  domain: string,
  count: number,
  policy: Policy | null = null,
): Promise<string[]> {
  await storeSecrets(customer, values, ENVIRONMENT, policy)
  await allow(customer, domain)
  const tokens: string[] = []
  for (let agent = 0; agent < count; agent += 1) {
    tokens.push(await createAgentWithToken(customer, `bench-agent-${agent}`))
  }
  return tokens
}

async function allow({ session: { api }, workspace }: Customer, domain: string): Promise<void> {
  await allowHosts({ api, workspace }, [domain])
}

async function createAgentWithToken(customer: Customer, name: string): Promise<string> {
  const { session, workspace, projectId } = customer
  const id = Bun.randomUUIDv7()
  const scope = { kind: 'agent', agentId: id, projectId: null, environment: null } as const
  const places = [{ projectId, environment: ENVIRONMENT }]
  const made = await makeToken(workspace, scope, { capabilities: ['use', 'read'] }, places)
  await session.api.call(registerAgent, {
    params: { workspace_id: workspace.id },
    body: { ...(workspace.chains && { id }), name, ...made.body },
  })
  return made.text
}

/** Makes each token's call, and releases the held secret to it for an hour. */
export async function releaseWindows(
  { session: { api }, workspace }: Customer,
  { url, headers, authorizations, body }: Shot,
  { host, path }: { host: string; path: string },
): Promise<void> {
  for (const authorization of authorizations ?? []) {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...headers, authorization },
      body,
    })
    const { approval } = (await answer.json()) as { approval?: { id: string } }
    if (!approval) throw new Error(`no request for approval: ${answer.status}`)
    const request = await readVerifiedRequest({ api, workspace }, approval.id)
    const window = { host, methods: ['GET' as const], path_prefix: path, seconds: 3_600 }
    await releaseRequest({ api, workspace }, request, window)
  }
}
