/**
 * What a client does with keys: it makes accounts, opens workspaces, seals secrets and grants
 * environment keys to tokens. Everything secret happens here, before anything is sent; the server
 * receives ciphertext, envelopes and verifiers.
 */

import { fromBase64, toBase64, utf8, uuidv7 } from '../core/crypto/encoding.ts'
import { openMemberEnvelope, sealTokenEnvelope } from '../core/crypto/envelope.ts'
import {
  environmentKey,
  openSecretValue,
  type SecretPlace,
  sealSecretValue,
} from '../core/crypto/secret_value.ts'
import type { Policy } from '../core/policy/policy.ts'
import type { Secret } from '../core/secret.ts'
import { login, register } from '../features/accounts/contract.ts'
import { identityOf } from '../sigchain/index.ts'
import { type AccountKeys, newAccount, unwrapKeys } from './account/account_keys.ts'
import type { Argon2id } from './account/argon2.ts'
import { authKey, generateRecoveryKey, userKey } from './account/keys.ts'
import { recoveryOf, writeRecoveryKey } from './account/recovery.ts'
import { masterKeyOf } from './actions/credentials.ts'
import { newWorkspace } from './actions/workspaces.ts'
import { type Api, openApi } from './http/api.ts'
import { type MemberSigner, type Place, signEnvelope } from './signed/statements.ts'
import type { WorkspaceKey } from './workspace_key.ts'

export type OpenSession = AccountKeys & {
  api: Api
  email: string
  access: string
  refresh: string
  /** Without their chains. */
  workspaces: WorkspaceKey[]
}

/**
 * Registers an account whose password and keys never leave this process, with a personal workspace. Returns the
 * recovery key as text, and what to keep of the workspace where it is signed. The first account of a server may need its
 * owner code.
 */
export async function signUp(
  origin: string,
  email: string,
  password: string,
  isSigned = true,
  ownerCode?: string,
  argon2id?: Argon2id,
) {
  const { keys, ...account } = await newAccount(email, password, argon2id)
  const recoveryKey = generateRecoveryKey()
  const userId = uuidv7()
  const { seed } = keys
  const founder = isSigned && seed ? { userId, email, identity: await identityOf(seed) } : null
  const workspace = await newWorkspace(keys.publicKey, founder)
  await openApi(origin).call(register, {
    body: {
      email,
      ...account,
      ...(founder && { user_id: userId }),
      recovery: await recoveryOf(recoveryKey, keys),
      workspace: workspace.order,
      ...(ownerCode === undefined ? {} : { owner_code: ownerCode }),
    },
  })
  const { order, known } = workspace
  return { recoveryKey: writeRecoveryKey(recoveryKey), workspaceId: order.id, known }
}

/**
 * Logs in and opens the private key and every workspace that it opens.
 *
 * @throws ApiError when the server refuses, Error when it asks for weak key derivation or its copy of
 * the private key does not open
 */
export async function logInByPassword(
  origin: string,
  email: string,
  password: string,
  argon2id?: Argon2id,
): Promise<OpenSession> {
  const anonymous = openApi(origin)
  const masterKey = await masterKeyOf({ server: origin, email, argon2id }, password)
  const answer = await anonymous.call(login, { body: { email, password: authKey(masterKey) } })
  const wrapped = answer.encrypted_private_key
  const keys = await unwrapKeys('account', userKey(masterKey), wrapped, answer.user)
  if (!keys) throw new Error('the private key on the server does not open with this password')
  const opened = await Promise.all(
    answer.workspaces.map((workspace) => openWorkspace(workspace, keys.privateKey, keys.publicKey)),
  )
  return {
    api: openApi(origin, () => answer.access),
    email,
    access: answer.access,
    refresh: answer.refresh,
    ...keys,
    workspaces: opened.flatMap((workspace) => workspace ?? []),
  }
}

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
