/** Changes made on another machine than the browser: the page learns of them from the server. */
import { registerWithToken } from '../../src/client/actions/issue_token.ts'
import { invitePeople, readPerson } from '../../src/client/actions/members.ts'
import { createWorkspaceKeys } from '../../src/client/actions/workspaces.ts'
import { createKnownChains, type KnownEntry } from '../../src/client/signed/known_chains.ts'
import { chainsOf } from '../../src/client/signed/trust.ts'
import { createKnownWorkspaceKeys, type KnownKey } from '../../src/client/workspace_key.ts'
import { readWorkspaces } from '../../src/client/workspaces.ts'
import type { Role } from '../../src/core/grant.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import {
  acceptInvitation,
  createWorkspaceEndpoint,
} from '../../src/features/workspaces/contract.ts'
import { identityOf } from '../../src/sigchain/index.ts'
import { logIn, PASSWORD, signUp } from './accounts.ts'

export const WORKSPACE = 'Acme'

/** An account's personal workspace, or the one with this name, opened and with its verified chain. */
export async function elsewhere(server: string, email: string, password = PASSWORD, name?: string) {
  const { api, seed, privateKey, publicKey } = await logIn(server, email, password)
  const chains = chainsOf(api, createKnownChains(memory<KnownEntry>()), { met() {}, rekeyed() {} })
  const workspaceKeys = createKnownWorkspaceKeys(memory<KnownKey>(), () => {})
  const trust = { chains, workspaceKeys, onPlainWorkspace() {} }
  const reader = { api, trust, identity: () => identityOf(seed), privateKey, publicKey }
  const entries = await readWorkspaces(reader)
  const entry = entries.find((each) => name === undefined || each.name === name)
  if (!entry?.open) throw new Error('no workspace opens')
  return { api, workspace: entry.open, chains, reader, email }
}

export function memory<V>() {
  const kept = new Map<string, V>()
  return {
    of: (id: string) => kept.get(id),
    put: (id: string, change: (before: V | undefined) => V | undefined) => {
      const next = change(kept.get(id))
      if (next !== undefined) kept.set(id, next)
    },
  }
}

/** Creates a workspace for an account. @returns its id */
export async function shared(
  server: string,
  email: string,
  name: string,
  isSigned = true,
): Promise<string> {
  const { api, userId, seed, publicKey } = await logIn(server, email)
  const founder = { userId, email, identity: await identityOf(seed) }
  const { order } = await createWorkspaceKeys(publicKey, isSigned ? founder : null)
  await api.call(createWorkspaceEndpoint, { body: { name, ...order } })
  return order.id
}

/** Registers an account with the signed workspace Acme and a project in it. */
export async function foundWorkspace(server: string, email: string, project: string) {
  const account = { email, ...(await signUp(server, email)) }
  await shared(server, email, WORKSPACE)
  const there = await elsewhere(server, email, PASSWORD, WORKSPACE)
  const body = { name: project, workspace_id: there.workspace.id }
  const { id: projectId } = await there.api.call(createProject, { body })
  return { account, there, projectId }
}

/** Registers an agent in a project's production, with the environment's key by default. @returns its token */
export async function createAgent(
  there: Pick<Awaited<ReturnType<typeof elsewhere>>, 'api' | 'workspace'>,
  projectId: string,
  name: string,
  hasKey = true,
): Promise<string> {
  const places = hasKey ? [{ projectId, environment: 'production' }] : []
  const terms = { environment: 'production', order: {}, places }
  return (await registerWithToken(there, { name, projectId }, terms)).text
}

/** `by` invites `email` to the workspace, and `email` accepts. */
export async function joined(server: string, name: string, by: string, email: string, role: Role) {
  const place = await elsewhere(server, by, PASSWORD, name)
  const person = await readPerson(place.api, email)
  if (!person) throw new Error(`${email} has no account`)
  await invitePeople(place, [person], role, new Set())
  const { api } = await logIn(server, email)
  await api.call(acceptInvitation, { params: { workspace_id: place.workspace.id } })
}
