/**
 * People with real client-side keys. Only the master key is not derived from a password, because that takes 0.3 s and
 * 64 MiB by design and the server cannot detect the difference.
 */
import { randomBytes } from 'node:crypto'
import {
  authKey,
  generateRecoveryKey,
  KDF_DEFAULT,
  recoveryVerifier,
  userKey,
  wrapForRecovery,
  wrapPrivateKey,
} from '../../src/client/account/keys.ts'
import type { Api } from '../../src/client/http/api.ts'
import { toBase64 } from '../../src/core/crypto/encoding.ts'
import { sealMemberEnvelope } from '../../src/core/crypto/envelope.ts'
import { login, register } from '../../src/features/accounts/contract.ts'
import { freshEmail, type TestApp } from './app.ts'
import { generateKeyPair } from './key_pair.ts'

export type Person = {
  email: string
  /** The value that the client sends as password. */
  password: string
  masterKey: Uint8Array
  privateKey: Uint8Array
  publicKey: Uint8Array
  recoveryKey: Uint8Array
  userId: string
  /** The personal workspace and its key, epoch 1. */
  workspaceId: string
  workspaceKey: Uint8Array
  /** An access token of 15 minutes, and its refresh token. */
  token: string
  refresh: string
  /** The typed client of this person. */
  api: Api
}

/** A person's keys before the server has them. */
export type Applicant = Pick<
  Person,
  | 'email'
  | 'password'
  | 'masterKey'
  | 'privateKey'
  | 'publicKey'
  | 'recoveryKey'
  | 'workspaceId'
  | 'workspaceKey'
>

/** A person with a fresh address: `name` is its local part, made unique. */
export function newApplicant(name = 'person'): Applicant {
  const masterKey = new Uint8Array(randomBytes(32))
  return {
    email: freshEmail(name),
    password: authKey(masterKey),
    masterKey,
    ...generateKeyPair(),
    recoveryKey: generateRecoveryKey(),
    workspaceId: Bun.randomUUIDv7(),
    workspaceKey: new Uint8Array(randomBytes(32)),
  }
}

/** The body that registers an applicant with a personal workspace and a recovery key. */
export async function registrationOf(applicant: Applicant) {
  const { email, password, workspaceId, workspaceKey } = applicant
  return {
    email,
    password,
    first_name: 'Test',
    last_name: 'Person',
    ...passwordFields(applicant),
    public_key: toBase64(applicant.publicKey),
    recovery: recoveryFields(applicant),
    workspace: {
      id: workspaceId,
      name: 'Personal',
      encrypted_workspace_key: await envelopeFor(applicant, { workspaceId, workspaceKey }),
    },
  }
}

/** The salt, parameters and wrapped private key that belong to a password. */
export function passwordFields({
  masterKey,
  privateKey,
  publicKey,
}: Pick<Applicant, 'masterKey' | 'privateKey' | 'publicKey'>) {
  return {
    key_salt: toBase64(randomBytes(16)),
    kdf: { ...KDF_DEFAULT },
    encrypted_private_key: wrapPrivateKey(userKey(masterKey), privateKey, publicKey),
  }
}

export function recoveryFields({
  recoveryKey,
  privateKey,
  publicKey,
}: Pick<Applicant, 'recoveryKey' | 'privateKey' | 'publicKey'>) {
  return {
    verifier: recoveryVerifier(recoveryKey),
    encrypted_private_key: wrapForRecovery(recoveryKey, privateKey, publicKey),
  }
}

/** A workspace key sealed to a member, as base64. */
export function envelopeFor(
  recipient: Pick<Person, 'publicKey'>,
  {
    workspaceId,
    workspaceKey,
    epoch = 1,
  }: { workspaceId: string; workspaceKey: Uint8Array; epoch?: number },
): Promise<string> {
  const place = { workspaceId, recipientPublicKey: recipient.publicKey, epoch }
  return sealMemberEnvelope(place, workspaceKey)
}

/** Registers a person and logs them in. */
export async function registerPerson(app: TestApp, name?: string): Promise<Person> {
  const applicant = newApplicant(name)
  const { user } = await app.as().call(register, { body: await registrationOf(applicant) })
  const tokens = await logInAs(app, applicant)
  return { ...applicant, ...tokens, userId: user.id, api: app.as(tokens.token) }
}

/** One more session of a person. */
export async function logInAs(
  app: TestApp,
  { email, password }: Pick<Person, 'email' | 'password'>,
): Promise<{ token: string; refresh: string }> {
  const { access, refresh } = await app.as().call(login, { body: { email, password } })
  return { token: access, refresh }
}
