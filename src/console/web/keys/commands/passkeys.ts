/**
 * Passkeys. The page asks the authenticator, since a worker cannot, and hands on what it gives: the output of its PRF
 * opens or seals a copy of the seed here, and is wiped.
 */
import { type AccountKeys, identityBehind } from '../../../../client/account/account_keys.ts'
import {
  PRF_INPUT,
  unwrapByPasskey,
  wrapForPasskey,
} from '../../../../client/account/account_seed.ts'
import { proofOf } from '../../../../client/actions/credentials.ts'
import { ApiError, openApi } from '../../../../client/http/api.ts'
import {
  type Bytes,
  fromBase64,
  fromBase64Url,
  toBase64Url,
  uuidToBytes,
} from '../../../../core/crypto/encoding.ts'
import { getMe } from '../../../../features/accounts/contract.ts'
import {
  addPasskey,
  beginPasskey,
  beginPasskeyLogin,
  consolePasskeyLogin,
  getPasskeySeed,
  listPasskeys,
  removePasskey,
  renamePasskey,
  setPasskeySeed,
} from '../../../../features/passkeys/contract.ts'
import type { InputOf } from '../../../../http/endpoint.ts'
import type { ShownKeys } from '../../../../sigchain/index.ts'
import { Refused } from '../failure.ts'
import type { HeldKeys } from '../held.ts'
import { openFor, type StayChoice } from '../staying.ts'

export const passkeysCommands = {
  list,
  begin,
  add,
  rename,
  remove,
  prf,
  letUnlock,
  beginLogIn,
  logIn,
  unlock,
}

/** 32 bytes of an authenticator's PRF for `PRF_INPUT`; null from one without. */
type Prf = { output: Bytes | null }
type One = { id: string; credentialId: string }
type NewCredential = InputOf<typeof addPasskey, 'body'>['credential']
type Assertion = InputOf<typeof consolePasskeyLogin, 'body'>['credential']

async function list({ api }: HeldKeys, _: null) {
  return api.list(listPasskeys, {})
}

/** What the authenticator is asked for a new passkey. @throws ApiError `validation_error` for a wrong password */
async function begin(held: HeldKeys, { password }: { password: string }) {
  const { email } = held.reader()
  const current_password = await proofOf({ server: location.origin, email }, password)
  const body = { current_password, origin: location.origin }
  return { ...(await held.api.call(beginPasskey, { body })), email, prf: PRF_INPUT }
}

/** Returns the passkey, which unlocks where there was an output. */
async function add(
  held: HeldKeys,
  { label, credential, output }: Prf & { label: string; credential: NewCredential },
) {
  const sealed = output && (await sealSeed(held, credential.id, output))
  const body = { label, credential, ...(sealed ? { encrypted_seed: sealed } : {}) }
  return held.api.call(addPasskey, { body })
}

async function rename({ api }: HeldKeys, { id, label }: { id: string; label: string }) {
  return api.call(renamePasskey, { params: { passkey_id: id }, body: { label } })
}

async function remove({ api }: HeldKeys, { id }: { id: string }) {
  await api.call(removePasskey, { params: { passkey_id: id } })
}

/** What an authenticator is asked where the server need not check the answer: for its PRF. */
async function prf(_: HeldKeys, __: null) {
  return { input: PRF_INPUT }
}

/** Lets a passkey unlock that only logs in. @throws ApiError `validation_error` for a wrong password */
async function letUnlock(
  held: HeldKeys,
  { id, credentialId, output, password }: Prf & One & { password: string },
) {
  const encrypted_seed = output && (await sealSeed(held, credentialId, output))
  if (!encrypted_seed) throw new Refused('passkey_without_prf')
  const { email } = held.reader()
  const current_password = await proofOf({ server: location.origin, email }, password)
  await held.api.call(setPasskeySeed, {
    params: { passkey_id: id },
    body: { current_password, encrypted_seed },
  })
}

/** What the authenticator is asked for a log-in; nobody is named. */
async function beginLogIn(_: HeldKeys, __: null) {
  const body = { origin: location.origin }
  const begun = await openApi(location.origin).call(beginPasskeyLogin, { body })
  return { ...begun, prf: PRF_INPUT }
}

/**
 * Unlocked by a passkey that can; with another one the session waits for the password.
 *
 * @throws Refused `passkey_refused`, `other_account`
 */
async function logIn(
  held: HeldKeys,
  { credential, output, ...staying }: Prf & StayChoice & { credential: Assertion },
) {
  const { user, passkey } = await openApi(location.origin)
    .call(consolePasskeyLogin, { body: { credential } })
    .catch((error: unknown) => {
      const isRefused = error instanceof ApiError && error.code === 'invalid_credentials'
      throw isRefused ? new Refused('passkey_refused') : error
    })
  // Whose it is the authenticator says, whatever the server does.
  if (credential.user_handle !== toBase64Url(uuidToBytes(user.id))) {
    throw new Refused('other_account')
  }
  const person = { userId: user.id, email: user.email }
  const keys = await openSeed(user, credential.id, passkey.encrypted_seed, output)
  if (keys) await openFor(held, person, keys, staying)
  else held.meet(person)
  return held.state()
}

/** @throws Refused `passkey_cannot_unlock`, `other_account` */
async function unlock(
  held: HeldKeys,
  { id, credentialId, output, ...staying }: Prf & One & StayChoice,
) {
  const [user, { encrypted_seed }] = await Promise.all([
    held.api.call(getMe, {}),
    held.api.call(getPasskeySeed, { params: { passkey_id: id } }),
  ])
  const keys = await openSeed(user, credentialId, encrypted_seed, output)
  if (!keys) throw new Refused('passkey_cannot_unlock')
  await openFor(held, { userId: user.id, email: user.email }, keys, staying)
  return held.state()
}

/** Null in an account without a seed. */
async function sealSeed(
  held: HeldKeys,
  credentialId: string,
  output: Bytes,
): Promise<string | null> {
  const { seed, publicKey, userId } = held.reader()
  try {
    if (seed === null) return null
    const copy = { userId, credentialId: decoded(credentialId) }
    // Awaited here: what comes of the authenticator is wiped below.
    return await wrapForPasskey(output, copy, seed, await identityBehind(seed, publicKey))
  } finally {
    output.fill(0)
  }
}

async function openSeed(
  { id: userId, public_key, signing_key }: { id: string } & ShownKeys,
  credentialId: string,
  wrapped: string | null,
  output: Bytes | null,
): Promise<AccountKeys | null> {
  try {
    if (wrapped === null || output === null || signing_key === null) return null
    const copy = { userId, credentialId: decoded(credentialId) }
    const opened = await unwrapByPasskey(output, copy, wrapped, { signing_key, public_key })
    if (!opened) return null
    const { privateKey, seed } = opened
    const publicKey = fromBase64(public_key) ?? new Uint8Array()
    return { privateKey, publicKey, seed }
  } finally {
    output?.fill(0)
  }
}

function decoded(text: string): Bytes {
  return fromBase64Url(text) ?? new Uint8Array()
}
