/**
 * Passkeys. The page calls the authenticator, because a worker cannot, and passes on the output of its PRF. This worker
 * opens or seals a copy of the seed with the output, and then wipes it.
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
import { openAndRemember, type RememberChoice } from '../remembered_unlock.ts'
import type { UnlockedSession } from '../unlocked_session.ts'

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

async function list({ api }: UnlockedSession, _: null) {
  return api.list(listPasskeys, {})
}

/** Options for a new passkey. @throws ApiError `validation_error` for a wrong password */
async function begin(session: UnlockedSession, { password }: { password: string }) {
  const { email } = session.reader()
  const current_password = await proofOf({ server: location.origin, email }, password)
  const body = { current_password, origin: location.origin }
  return { ...(await session.api.call(beginPasskey, { body })), email, prf: PRF_INPUT }
}

/** Returns the passkey. It unlocks if the authenticator returned a PRF output. */
async function add(
  session: UnlockedSession,
  { label, credential, output }: Prf & { label: string; credential: NewCredential },
) {
  const sealed = output && (await sealSeed(session, credential.id, output))
  const body = { label, credential, ...(sealed ? { encrypted_seed: sealed } : {}) }
  return session.api.call(addPasskey, { body })
}

async function rename({ api }: UnlockedSession, { id, label }: { id: string; label: string }) {
  return api.call(renamePasskey, { params: { passkey_id: id }, body: { label } })
}

async function remove({ api }: UnlockedSession, { id }: { id: string }) {
  await api.call(removePasskey, { params: { passkey_id: id } })
}

/** Options for reading the PRF alone. The server does not check the answer. */
async function prf(_: UnlockedSession, __: null) {
  return { input: PRF_INPUT }
}

/** Lets a passkey that only signs in also unlock. @throws ApiError `validation_error` for a wrong password */
async function letUnlock(
  session: UnlockedSession,
  { id, credentialId, output, password }: Prf & One & { password: string },
) {
  const encrypted_seed = output && (await sealSeed(session, credentialId, output))
  if (!encrypted_seed) throw new Refused('passkey_without_prf')
  const { email } = session.reader()
  const current_password = await proofOf({ server: location.origin, email }, password)
  await session.api.call(setPasskeySeed, {
    params: { passkey_id: id },
    body: { current_password, encrypted_seed },
  })
}

/** Options for signing in, without a user. */
async function beginLogIn(_: UnlockedSession, __: null) {
  const body = { origin: location.origin }
  const begun = await openApi(location.origin).call(beginPasskeyLogin, { body })
  return { ...begun, prf: PRF_INPUT }
}

/**
 * Signs in, and unlocks if the passkey can. Otherwise the session waits for the password.
 *
 * @throws Refused `passkey_refused`, `other_account`
 */
async function logIn(
  session: UnlockedSession,
  { credential, output, ...remembering }: Prf & RememberChoice & { credential: Assertion },
) {
  const { user, passkey } = await openApi(location.origin)
    .call(consolePasskeyLogin, { body: { credential } })
    .catch((error: unknown) => {
      const isRefused = error instanceof ApiError && error.code === 'invalid_credentials'
      throw isRefused ? new Refused('passkey_refused') : error
    })
  // Trust the authenticator for the user, not the server.
  if (credential.user_handle !== toBase64Url(uuidToBytes(user.id))) {
    throw new Refused('other_account')
  }
  const person = { userId: user.id, email: user.email }
  const keys = await openSeed(user, credential.id, passkey.encrypted_seed, output)
  if (keys) await openAndRemember(session, person, keys, remembering)
  else session.setUser(person)
  return session.state()
}

/** @throws Refused `passkey_cannot_unlock`, `other_account` */
async function unlock(
  session: UnlockedSession,
  { id, credentialId, output, ...remembering }: Prf & One & RememberChoice,
) {
  const [user, { encrypted_seed }] = await Promise.all([
    session.api.call(getMe, {}),
    session.api.call(getPasskeySeed, { params: { passkey_id: id } }),
  ])
  const keys = await openSeed(user, credentialId, encrypted_seed, output)
  if (!keys) throw new Refused('passkey_cannot_unlock')
  await openAndRemember(session, { userId: user.id, email: user.email }, keys, remembering)
  return session.state()
}

/** Null in an account without a seed. */
async function sealSeed(
  session: UnlockedSession,
  credentialId: string,
  output: Bytes,
): Promise<string | null> {
  const { seed, publicKey, userId } = session.reader()
  try {
    if (seed === null) return null
    const copy = { userId, credentialId: decodeBase64(credentialId) }
    // Await here, because the output is wiped below.
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
    const copy = { userId, credentialId: decodeBase64(credentialId) }
    const opened = await unwrapByPasskey(output, copy, wrapped, { signing_key, public_key })
    if (!opened) return null
    const { privateKey, seed } = opened
    const publicKey = fromBase64(public_key) ?? new Uint8Array()
    return { privateKey, publicKey, seed }
  } finally {
    output?.fill(0)
  }
}

function decodeBase64(text: string): Bytes {
  return fromBase64Url(text) ?? new Uint8Array()
}
