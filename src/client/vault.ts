/**
 * The operations with a workspace's keys: opens workspaces, seals secrets and grants environment keys to tokens.
 * The server receives ciphertext and envelopes.
 */

import { fromBase64, toBase64, utf8 } from '../core/crypto/encoding.ts'
import { openMemberEnvelope, sealTokenEnvelope } from '../core/crypto/envelope.ts'
import {
  deriveHeldKey,
  environmentKey,
  openSecretValue,
  type SecretPlace,
  sealSecretValue,
} from '../core/crypto/secret_value.ts'
import { isHeld, type Policy } from '../core/policy/policy.ts'
import type { Secret } from '../core/secret.ts'
import { type MemberSigner, type Place, signEnvelope } from './signed/statements.ts'
import type { WorkspaceKey } from './workspace_key.ts'

type SealedWorkspace = {
  id: string
  name: string
  epoch: number
  encrypted_workspace_key: string | null
}

/** The workspace with its key, or `null` when the envelope is not for this key pair, or the server cannot read it. */
export async function openWorkspace(
  { id, name, epoch, encrypted_workspace_key }: SealedWorkspace,
  privateKey: Uint8Array,
  recipientPublicKey: Uint8Array,
): Promise<WorkspaceKey | null> {
  if (encrypted_workspace_key === null) return null
  const place = { workspaceId: id, recipientPublicKey, epoch }
  const key = await openMemberEnvelope(place, privateKey, encrypted_workspace_key)
  return key && { id, name, epoch, key }
}

/** The key that values of this policy are sealed under: the environment key, or for a held secret the held key. */
export function valueKey(
  { key, epoch }: Pick<WorkspaceKey, 'key' | 'epoch'>,
  { projectId, environment }: Place,
  policy: unknown,
): Uint8Array {
  const derive = isHeld(policy) ? deriveHeldKey : environmentKey
  return derive(key, projectId, environment, epoch)
}

/** The ciphertext as it is uploaded: b64 of the form of protocol 3.3, or of a held secret that of 14.1. */
export function sealSecret(
  workspace: WorkspaceKey,
  place: SecretPlace,
  policy: Policy | null,
  plaintext: string | Uint8Array,
): string {
  const bytes = typeof plaintext === 'string' ? utf8(plaintext) : plaintext
  const key = valueKey(workspace, place, policy)
  return toBase64(sealSecretValue(key, place, policy, workspace.epoch, bytes))
}

/** The plaintext of a stored secret, or `null` when it was altered, moved or sealed under another key. */
export function openSecret(
  workspace: WorkspaceKey,
  place: SecretPlace,
  policy: Policy | null,
  ciphertext: string,
): Secret | null {
  const bytes = fromBase64(ciphertext)
  return bytes && openSecretValue(valueKey(workspace, place, policy), place, policy, bytes)
}

type Recipient = { id: string; publicKey: string }

/** The body of PUT …/envelopes/: a token's key for one environment. Unsigned in a plain workspace. */
export async function grantEnvironment(
  signer: MemberSigner | null,
  { id: workspaceId, epoch, key }: WorkspaceKey,
  token: Recipient,
  { projectId, environment }: Place,
) {
  const granted = environmentKey(key, projectId, environment, epoch)
  const place = { workspaceId, tokenId: token.id, projectId, environment, epoch }
  const envelope = await sealTokenEnvelope(place, decode(token.publicKey), granted)
  const entry = { project_id: projectId, environment, epoch, envelope }
  return signer === null ? entry : signEnvelope(signer, token.id, entry)
}

function decode(text: string): Uint8Array {
  const bytes = fromBase64(text)
  if (!bytes) throw new Error('the server sent text that is not base64')
  return bytes
}
