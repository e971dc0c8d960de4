/** Statements that members of signed workspaces sign about tokens, envelopes and secrets, and a project for them. */
import { randomBytes } from 'node:crypto'
import {
  type Bytes,
  fromBase64,
  toBase64,
  toBase64Url,
  utf8,
} from '../../src/core/crypto/encoding.ts'
import { sealTokenEnvelope } from '../../src/core/crypto/envelope.ts'
import { sha256 } from '../../src/core/crypto/primitives.ts'
import {
  deriveHeldKey,
  environmentKey,
  sealSecretValue,
} from '../../src/core/crypto/secret_value.ts'
import { tokenAuth, tokenKeyPair, verifierOf } from '../../src/core/crypto/token.ts'
import { isHeld, type Policy } from '../../src/core/policy/policy.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import {
  makeBinding,
  manifestRoot,
  readFirstHash,
  type SignedText,
  signText,
  type TokenGrant,
} from '../../src/sigchain/index.ts'
import type { TestApp } from './app.ts'
import {
  type SignedPerson,
  type SignedWorkspace,
  signedAccount,
  signedId,
  signedWorkspace,
} from './signed.ts'

export type SignedProject = SignedWorkspace & {
  projectId: string
  /** A value of the project under the workspace's first key, as base64. */
  seal(key: string, text: string, environment?: string, policy?: Policy | null): string
}

export async function signedProject(app: TestApp): Promise<SignedProject> {
  const workspace = await signedWorkspace(app, await signedAccount(app, 'owner'))
  const { workspaceId, workspaceKey, owner } = workspace
  const body = { name: 'api', workspace_id: workspaceId }
  const { id: projectId } = await owner.api.call(createProject, { body })
  const seal: SignedProject['seal'] = (key, text, environment = 'development', policy = null) => {
    const derive = isHeld(policy) ? deriveHeldKey : environmentKey
    const sealingKey = derive(workspaceKey, projectId, environment, 1)
    const place = { projectId, environment, key }
    return toBase64(sealSecretValue(sealingKey, place, policy, 1, utf8(text)))
  }
  return { ...workspace, projectId, seal }
}

/** The signer and the time: by default the owner, with the newest link. */
export type Signing = { signer?: SignedPerson; head?: string }

async function about({ workspaceId, owner, chain }: SignedWorkspace, signing: Signing) {
  const { head, epoch } = await chain()
  const { userId: signer, identity } = signing.signer ?? owner
  const text = { v: 2, workspace_id: workspaceId, head: signing.head ?? head, signer } as const
  return { text, epoch, key: identity.signingKey }
}

/** Values in base64, by name: all contents of the environment. */
export async function manifestOf(
  project: SignedProject,
  values: Readonly<Record<string, string>>,
  revision: number,
  { environment = 'development', ...signing }: Signing & { environment?: string } = {},
): Promise<SignedText> {
  const { text, epoch, key } = await about(project, signing)
  const root = await manifestRoot(
    new Map(Object.entries(values).map(([name, value]) => [name, sha256(bytesOf(value))])),
  )
  const place = { project_id: project.projectId, environment }
  return signText('manifest', { ...text, ...place, epoch, revision, root }, key)
}

export type Minted = { id: string; secret: Bytes; publicKey: Uint8Array }

export function mint(): Minted {
  const id = signedId()
  const secret = new Uint8Array(randomBytes(32))
  return { id, secret, publicKey: tokenKeyPair(id, secret).publicKey }
}

export type Granted = Partial<Omit<TokenGrant, 'v' | 'workspace_id' | 'head' | 'signer'>>

/** A grant of a workload's token for the project's development, without an expiry by default. */
export async function grantOf(
  project: SignedProject,
  token: { id: string; publicKey: Uint8Array },
  granted: Granted = {},
  signing: Signing = {},
): Promise<SignedText> {
  const { text, key } = await about(project, signing)
  const usual: Required<Granted> = {
    token_id: token.id,
    kind: 'workload',
    agent_id: null,
    label: 'ci',
    public_key: toBase64(token.publicKey),
    capabilities: ['use', 'read'],
    project_id: project.projectId,
    environment: 'development',
    expires_at: null,
  }
  return signText('grant', { ...text, ...usual, ...granted }, key)
}

export async function bindingOf({ chain }: SignedWorkspace, token: Minted): Promise<string> {
  return makeBinding(token, readFirstHash(await chain()))
}

/** An entry of `envelopes` with its statement. */
export async function envelopeOf(
  project: SignedProject,
  token: { id: string; publicKey: Uint8Array },
  environment = 'development',
  signing: Signing = {},
) {
  const { workspaceId, workspaceKey, projectId } = project
  const { text, epoch, key } = await about(project, signing)
  const place = { workspaceId, tokenId: token.id, projectId, environment, epoch }
  const environmentSecret = environmentKey(workspaceKey, projectId, environment, epoch)
  const envelope = await sealTokenEnvelope(place, token.publicKey, environmentSecret)
  const said = { token_id: token.id, project_id: projectId, environment, epoch }
  const envelope_sha256 = toBase64Url(sha256(bytesOf(envelope)))
  const signed = await signText('envelope', { ...text, ...said, envelope_sha256 }, key)
  return { project_id: projectId, environment, epoch, envelope, ...signed }
}

/** The body that a client sends for a token that it made. */
export async function clientMade(
  project: SignedProject,
  token: Minted,
  granted: Granted = {},
  signing: Signing = {},
) {
  return {
    id: token.id,
    verifier: toBase64(verifierOf(tokenAuth(token.id, token.secret))),
    public_key: toBase64(token.publicKey),
    grant: await grantOf(project, token, granted, signing),
    binding: await bindingOf(project, token),
    envelopes: [await envelopeOf(project, token, 'development', signing)],
  }
}

function bytesOf(base64: string): Bytes {
  return fromBase64(base64) ?? new Uint8Array()
}
