/**
 * What a client does with a workspace's keys: it opens workspaces, seals secrets and grants environment keys to tokens.
 * The server receives ciphertext and envelopes.
 */

import { fromBase64, toBase64, utf8 } from '../core/crypto/encoding.ts'
import { openMemberEnvelope, sealTokenEnvelope } from '../core/crypto/envelope.ts'
import {
  environmentKey,
  openSecretValue,
  type SecretPlace,
  sealSecretValue,
} from '../core/crypto/secret_value.ts'
import type { Policy } from '../core/policy/policy.ts'
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

/** The ciphertext as it is uploaded: b64 of the form of protocol 3.3. */
export function sealSecret(
  { key, epoch }: WorkspaceKey,
  place: SecretPlace,
  policy: Policy | null,
  plaintext: string | Uint8Array,
): string {
  const sealingKey = environmentKey(key, place.projectId, place.environment, epoch)
  const bytes = typeof plaintext === 'string' ? utf8(plaintext) : plaintext
  return toBase64(sealSecretValue(sealingKey, place, policy, epoch, bytes))
}

/** The plaintext of a stored secret, or `null` when it was altered, moved or sealed under another key. */
export function openSecret(
  { key, epoch }: WorkspaceKey,
  place: SecretPlace,
  policy: Policy | null,
  ciphertext: string,
): Secret | null {
  const bytes = fromBase64(ciphertext)
  const openingKey = environmentKey(key, place.projectId, place.environment, epoch)
  return bytes && openSecretValue(openingKey, place, policy, bytes)
}

type Recipient = { id: string; publicKey: string }

/** The key of one environment for a token, as PUT …/envelopes/ takes it. Nobody signs in a plain workspace. */
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
