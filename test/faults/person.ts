/**
 * A person with the product's own client in a signed workspace, whose memory survives the server: it detects older
 * states.
 */

import { logInByPassword, type OpenSession, signUp } from '../../src/client/account/log_in.ts'
import { allowHosts } from '../../src/client/actions/allowlist.ts'
import { openStoredValue, uploadSecrets } from '../../src/client/actions/set_secrets.ts'
import { makeToken, type TokenOrder } from '../../src/client/agents/tokens.ts'
import { type EnvironmentPlace, readWholeEnvironment } from '../../src/client/environment.ts'
import { type Api, openApi } from '../../src/client/http/api.ts'
import { createKnownChains, type KnownEntry } from '../../src/client/signed/known_chains.ts'
import { chainsOf } from '../../src/client/signed/trust.ts'
import { type OpenWorkspace, toSignedWorkspace } from '../../src/client/workspace.ts'
import { registerAgent } from '../../src/features/agents/contract.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { identityOf } from '../../src/sigchain/index.ts'

export const ENVIRONMENT = 'development'
export const PASSWORD = 'a passphrase for faults only'

export type Person = {
  origin: string
  email: string
  session: OpenSession
  api: Api
  workspace: OpenWorkspace
  projectId: string
  /** A new session, with the workspace under its current key. */
  logIn(): Promise<void>
}

export async function enrol(origin: string): Promise<Person> {
  const email = `person-${crypto.randomUUID()}@example.com`
  await signUp(origin, email, PASSWORD)
  const session = await logInByPassword(origin, email, PASSWORD)
  const api = openApi(origin, () => person.session.access)
  const entries = new Map<string, KnownEntry>()
  const known = createKnownChains({
    of: (id) => entries.get(id),
    put: (id, change) => {
      const next = change(entries.get(id))
      if (next) entries.set(id, next)
    },
  })
  const chains = chainsOf(api, known, { met: () => {}, rekeyed: () => {} })
  const signed = ({ workspaces: [workspace] }: OpenSession): OpenWorkspace => {
    if (!workspace) throw new Error('no workspace opened')
    const identity = () => identityOf(person.session.seed ?? new Uint8Array())
    return toSignedWorkspace(workspace, { chains, identity })
  }
  const person: Person = {
    origin,
    email,
    session,
    api,
    workspace: signed(session),
    projectId: '',
    logIn: async () => {
      person.session = await logInByPassword(origin, email, PASSWORD)
      person.workspace = signed(person.session)
    },
  }
  person.projectId = await newProject(person)
  return person
}

export async function newProject({ api, workspace }: Person): Promise<string> {
  const body = { name: `faults-${crypto.randomUUID()}`, workspace_id: workspace.id }
  return (await api.call(createProject, { body })).id
}

export function placeOf(person: Person, projectId = person.projectId): EnvironmentPlace {
  const { api, workspace } = person
  return { api, workspace, projectId, environment: ENVIRONMENT }
}

export async function store(
  place: EnvironmentPlace,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const entries = Object.entries(values).map(([key, value]) => ({ key, value, policy: null }))
  await uploadSecrets(place, entries, true)
}

/** The values that the manifest covers and that open; others throw. */
export async function readValues(place: EnvironmentPlace): Promise<Map<string, string | null>> {
  const { secrets } = await readWholeEnvironment(place, { include: 'value' })
  return new Map(secrets.map((secret) => [secret.key, openStoredValue(place, secret)]))
}

export async function allow(person: Person, domain: string): Promise<void> {
  await allowHosts(person, [domain])
}

export type AgentToken = { agentId: string; tokenId: string; token: string }

export async function createAgent(
  person: Person,
  label: string,
  expires_in_days = 90,
): Promise<AgentToken> {
  const { api, workspace, projectId } = person
  const agentId = Bun.randomUUIDv7()
  const scope = { kind: 'agent', agentId, projectId: null, environment: null } as const
  const places = [{ projectId, environment: ENVIRONMENT }]
  const order = { capabilities: ['use', 'read'], expires_in_days } satisfies TokenOrder
  const made = await makeToken(workspace, scope, order, places)
  const params = { workspace_id: workspace.id }
  await api.call(registerAgent, { params, body: { id: agentId, name: label, ...made.body } })
  return { agentId, tokenId: made.id, token: made.text }
}
