/** Changes the password or recovery key. The account keys stay the same, and are wrapped again on the client. */

import { fromBase64 } from '../../core/crypto/encoding.ts'
import {
  changePassword,
  deleteAccount,
  prelogin,
  replaceRecovery,
} from '../../features/accounts/contract.ts'
import { type AccountKeys, deriveFromPassword } from '../account/account_keys.ts'
import type { Argon2id } from '../account/argon2.ts'
import { authKey, deriveMasterKey, generateRecoveryKey } from '../account/keys.ts'
import { recoveryOf, writeRecoveryKey } from '../account/recovery.ts'
import { type Api, openApi } from '../http/api.ts'

export type Holder = AccountKeys & {
  api: Api
  server: string
  email: string
  /** The real one unless given. */
  argon2id?: Argon2id | undefined
}

type Claim = Pick<Holder, 'server' | 'email' | 'argon2id'>

/**
 * Derives the key from the password, with the server's parameters. @throws Error when it asks for weak key derivation
 */
export async function masterKeyOf({ server, email, argon2id }: Claim, password: string) {
  const { key_salt, kdf } = await openApi(server).call(prelogin, { body: { email } })
  return deriveMasterKey(password, fromBase64(key_salt) ?? new Uint8Array(), kdf, argon2id)
}

/** The authKey that replaces the password. @throws as `masterKeyOf` */
export async function proofOf(claim: Claim, password: string): Promise<string> {
  return authKey(await masterKeyOf(claim, password))
}

/** Ends all other sessions. @throws ApiError `validation_error` for a wrong password */
export async function changeOwnPassword(
  holder: Holder,
  current: string,
  replacement: string,
): Promise<void> {
  const current_password = await proofOf(holder, current)
  const { password: new_password, ...wrapped } = await deriveFromPassword(
    replacement,
    holder,
    holder.argon2id,
  )
  await holder.api.call(changePassword, { body: { current_password, new_password, ...wrapped } })
}

/** Returns the new recovery key as text; the old one stops working. */
export async function renewRecoveryKey(holder: Holder, password: string): Promise<string> {
  const current_password = await proofOf(holder, password)
  const key = generateRecoveryKey()
  const recovery = await recoveryOf(key, holder)
  await holder.api.call(replaceRecovery, { body: { current_password, recovery } })
  return writeRecoveryKey(key)
}

/** @throws ApiError `last_owner` with the workspaces that would have no owner */
export async function removeAccount(holder: Holder, password: string): Promise<void> {
  const current_password = await proofOf(holder, password)
  await holder.api.call(deleteAccount, { body: { current_password } })
}
