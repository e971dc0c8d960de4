/** A signed workspace with held secrets, an agent that calls with them, and members who release them. */
import { expect } from 'bun:test'
import { uploadSecrets } from '../../src/client/actions/set_secrets.ts'
import { sealRelease } from '../../src/core/crypto/approval/release_envelope.ts'
import { toBase64, toBase64Url } from '../../src/core/crypto/encoding.ts'
import { sha256 } from '../../src/core/crypto/primitives.ts'
import { policyHash } from '../../src/core/crypto/secret_value.ts'
import { formatToken } from '../../src/core/crypto/token.ts'
import type { Policy } from '../../src/core/policy/policy.ts'
import { issueAgentToken, registerAgent } from '../../src/features/agents/contract.ts'
import { addToAllowlist } from '../../src/features/allowlist/contract.ts'
import {
  getApproval,
  listApprovals,
  releaseApproval,
} from '../../src/features/approvals/contract.ts'
import { getSecret } from '../../src/features/secrets/contract.ts'
import { signText, type TextOf } from '../../src/sigchain/index.ts'
import { resolveAs, type Stage } from './agent.ts'
import type { Answer } from './app.ts'
import type { SignedPerson } from './signed.ts'
import { openEnvironment } from './signed_environment.ts'
import { clientMade, type Minted, mint, type SignedProject, signedProject } from './statements.ts'

export type HeldToken = Minted & { text: string; registrationId: string }

export type Scope = TextOf<'release'>['scope']

/** Parts in which a release differs from a valid one. */
export type ReleaseOptions = {
  signer?: SignedPerson
  scope?: Scope
  expiresAt?: string
  said?: Partial<TextOf<'release'>>
  /** Values by name, instead of the stored ones. */
  values?: Record<string, string>
}

export type HeldStage = {
  project: SignedProject
  token: HeldToken
  /** Values by name as they were stored. */
  values: Record<string, string>
  store(key: string, value: string, policy: Policy | null): Promise<void>
  issue(): Promise<HeldToken>
  resolve(body: object, token?: HeldToken): Promise<Answer>
  pending(): Promise<{ id: string; digest: string }[]>
  approval(id: string): Promise<Awaited<ReturnType<typeof getOne>>>
  release(id: string, options?: ReleaseOptions): Promise<void>
  /** The request of a call that is rejected for the lack of a release. */
  request(body: object, token?: HeldToken): Promise<string>
}

export const HELD: Policy = { approval: { by: 'member', ttl_seconds: 900 } }

export async function heldStage(stage: Pick<Stage, 'app' | 'authorityOf'>): Promise<HeldStage> {
  const project = await signedProject(stage.app)
  const { workspaceId, owner } = project
  const domains = [stage.authorityOf()]
  const link = await project.link('allowlist.changed', { add: domains, remove: [] })
  const params = { workspace_id: workspaceId }
  await owner.api.call(addToAllowlist, { params, body: { domains, link } })
  const place = openEnvironment(project)
  const values: Record<string, string> = {}
  const registrationId = Bun.randomUUIDv7()
  let isRegistered = false
  const issue = async (): Promise<HeldToken> => {
    const minted = mint()
    const granted = {
      ...({ kind: 'agent', agent_id: registrationId, label: minted.id.slice(0, 8) } as const),
      ...{ project_id: null, environment: null },
    }
    const made = await clientMade(project, minted, { ...granted, capabilities: ['use'] })
    const body = { token: made }
    if (isRegistered) {
      const ofAgent = { ...params, registration_id: registrationId }
      await owner.api.call(issueAgentToken, { params: ofAgent, body })
    } else {
      await owner.api.call(registerAgent, {
        params,
        body: { id: registrationId, name: 'held', ...body },
      })
      isRegistered = true
    }
    return { ...minted, registrationId, text: formatToken('agt', minted.id, minted.secret) }
  }
  const store: HeldStage['store'] = async (key, value, policy) => {
    await uploadSecrets(place, [{ key, value, policy }], true)
    values[key] = value
  }
  const token = await issue()
  const held: HeldStage = {
    ...{ project, token, values, store, issue },
    resolve: (body, by = token) => resolveAs(stage.app.resolver, by.text, body),
    pending: async () => owner.api.call(listApprovals, { params, query: { status: 'pending' } }),
    approval: (id) => getOne(project, id),
    release: (id, options) => releaseAs(held, id, options),
    request: async (body, by) => {
      const answer = await held.resolve(body, by)
      expect(answer).toMatchObject({ status: 403, body: { error_code: 'approval_required' } })
      return (answer.body as { approval: { id: string } }).approval.id
    },
  }
  return held
}

function getOne({ workspaceId, owner }: SignedProject, id: string) {
  const params = { workspace_id: workspaceId, approval_id: id }
  return owner.api.call(getApproval, { params })
}

async function releaseAs(
  { project, token, values: stored }: HeldStage,
  id: string,
  { signer = project.owner, scope = null, expiresAt, said, values = {} }: ReleaseOptions = {},
): Promise<void> {
  const { workspaceId } = project
  const approval = await getOne(project, id)
  const envelopes = []
  const secrets = []
  for (const secret of approval.secrets.filter(({ held }) => held)) {
    const { project_id, environment: env, key } = secret
    const shown = await project.owner.api.call(getSecret, {
      params: { project_id, key },
      query: { environment: env },
    })
    const at = {
      workspaceId,
      tokenId: approval.token_id,
      approvalId: id,
      projectId: project_id,
      environment: env,
      key,
    }
    const value = new TextEncoder().encode(values[key] ?? stored[key] ?? '')
    const envelope = await sealRelease(at, token.publicKey, value)
    envelopes.push({ project_id, environment: env, key, envelope: toBase64(envelope) })
    secrets.push({
      ...{ project_id, environment: env, key },
      value_sha256: toBase64Url(sha256(Uint8Array.fromBase64(shown.value))),
      policy_sha256: toBase64Url(policyHash(shown.policy)),
      envelope_sha256: toBase64Url(sha256(envelope)),
    })
  }
  const { head } = await project.chain()
  const text: TextOf<'release'> = {
    ...{ v: 3, workspace_id: workspaceId, head, signer: signer.userId, approval_id: id },
    ...{ token_id: approval.token_id, digest: approval.digest, scope, secrets },
    expires_at: expiresAt ?? new Date(Date.now() + 600_000).toISOString(),
    ...said,
  }
  const signed = await signText('release', text, signer.identity.signingKey)
  const params = { workspace_id: workspaceId, approval_id: id }
  await signer.api.call(releaseApproval, { params, body: { ...signed, envelopes } })
}
