/** The person of the demo, who owns a signed workspace and signs all changes. */

import { logInByPassword, type OpenSession, signUp } from '../../client/account/log_in.ts'
import { allowHosts } from '../../client/actions/allowlist.ts'
import { endToken } from '../../client/actions/end_tokens.ts'
import { makeToken } from '../../client/agents/tokens.ts'
import { openWriter, storeRows } from '../../client/environment.ts'
import { Chains, type KnownChains } from '../../client/signed/chain.ts'
import { sealSecret } from '../../client/vault.ts'
import { type OpenWorkspace, toSignedWorkspace } from '../../client/workspace.ts'
import { uuidv7 } from '../../core/crypto/encoding.ts'
import { registerAgent } from '../../features/agents/contract.ts'
import { listLinks } from '../../features/links/contract.ts'
import { createProject } from '../../features/projects/contract.ts'
import { upsertSecrets } from '../../features/secrets/contract.ts'
import { identityOf } from '../../sigchain/index.ts'
import type { Agent } from './agent.ts'
import type { Narrator } from './narrator.ts'
import { credentials, type Stage } from './stage.ts'

export type Owner = {
  session: OpenSession
  workspace: OpenWorkspace
  projectId: string
}

const ENVIRONMENT = 'development'

/** The demo is over before anything could be forgotten. */
const NOTHING_KNOWN: KnownChains = {
  of: () => undefined,
  remember: () => {},
  manifestOf: () => undefined,
  rememberManifest: () => {},
}

export async function prepare(stage: Stage, narrator: Narrator): Promise<Owner> {
  narrator.step('A person registers; the client generates the keys')
  const [email, password] = ['ada@example.com', 'a long passphrase that stays here']
  await signUp(stage.controlPlane, email, password)
  const session = await logInByPassword(stage.controlPlane, email, password)
  const workspace = openFirstWorkspace(session)
  narrator.show('server', stage.controlPlane)
  narrator.show('account', email)
  narrator.check(
    'the client decrypted its private key and workspace key',
    workspace.key.length === 32,
  )

  narrator.step('Three secrets are encrypted on the client and uploaded')
  const { api } = session
  const body = { name: 'payments', workspace_id: workspace.id }
  const { id: projectId } = await api.call(createProject, { body })
  const place = { projectId, environment: ENVIRONMENT }
  const secrets = Object.entries(credentials).map(([key, value]) => ({
    key,
    value: sealSecret(workspace, { ...place, key }, null, value),
  }))
  const { created } = await openWriter({ ...place, api, workspace })(
    storeRows(secrets),
    (manifest) => {
      const stored = { project_id: projectId, environment: ENVIRONMENT, secrets, manifest }
      return api.call(upsertSecrets, { body: stored })
    },
  )
  for (const { key, value } of secrets) narrator.show(key, `${value.slice(0, 48)}…`)
  narrator.check('the server stored three ciphertexts', created === 3)

  narrator.step('One domain is allowed')
  const domain = stage.apiAuthority
  const [entry] = await allowHosts({ api, workspace }, [domain])
  narrator.show('allowlist', entry?.domain ?? '(empty)')
  return { session, workspace, projectId }
}

function openFirstWorkspace({
  api,
  seed,
  workspaces: [workspace],
}: OpenSession): Owner['workspace'] {
  if (!workspace || !seed) throw new Error('no workspace opened')
  const readLinks = (workspace_id: string, after: number) =>
    api.call(listLinks, { params: { workspace_id }, query: { after } })
  const chains = new Chains(readLinks, NOTHING_KNOWN, { met: () => {}, rekeyed: () => {} })
  return toSignedWorkspace(workspace, { chains, identity: () => identityOf(seed) })
}

export async function createAgentWithToken(
  narrator: Narrator,
  { session, workspace, projectId }: Owner,
): Promise<Agent> {
  narrator.step('An agent gets a token with the key of one environment')
  const id = uuidv7()
  const scope = { kind: 'agent', agentId: id, projectId: null, environment: null } as const
  const places = [{ projectId, environment: ENVIRONMENT }]
  const made = await makeToken(workspace, scope, { expires_in_days: 1 }, places)
  const registered = await session.api.call(registerAgent, {
    params: { workspace_id: workspace.id },
    body: { id, name: 'demo-agent', ...made.body },
  })
  narrator.show('token', `${made.text.slice(0, 16)}…`)
  narrator.show('granted', `payments / ${ENVIRONMENT}`)
  narrator.check('the server never received the token', registered.token === null)
  return { token: made.text, tokenId: made.id, registrationId: registered.agent.id }
}

export async function revoke(
  { session, workspace }: Owner,
  { registrationId, tokenId }: Agent,
): Promise<void> {
  const ending = { api: session.api, workspace, unsigned: () => {} }
  await endToken(ending, { agentId: registrationId }, tokenId)
}
