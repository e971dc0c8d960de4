/** Changing what unlocks an account. Its keys stay the same and are wrapped anew, here. */
import {
  changePassword,
  deleteAccount,
  prelogin,
  replaceRecovery,
} from '../features/accounts/contract.ts'
import { fromBase64 } from '../platform/crypto/encoding.ts'
import { type AccountKeys, underPassword } from './account/account_keys.ts'
import { authKey, deriveMasterKey, generateRecoveryKey } from './account/keys.ts'
import { recoveryOf, writeRecoveryKey } from './account/recovery.ts'
import { type Api, openApi } from './http/api.ts'

export type Holder = AccountKeys & { api: Api; server: string; email: string }

/** What the server checks in place of the password. @throws Error when it asks for weak key derivation */
export async function proofOf(
  { server, email }: Pick<Holder, 'server' | 'email'>,
  password: string,
): Promise<string> {
  const { key_salt, kdf } = await openApi(server).call(prelogin, { body: { email } })
  return authKey(await deriveMasterKey(password, fromBase64(key_salt) ?? new Uint8Array(), kdf))
}

/** Ends all other sessions. @throws ApiError `validation_error` for a wrong password */
export async function replacePassword(
  holder: Holder,
  current: string,
  replacement: string,
): Promise<void> {
  const current_password = await proofOf(holder, current)
  const { password: new_password, ...wrapped } = await underPassword(replacement, holder)
  await holder.api.call(changePassword, { body: { current_password, new_password, ...wrapped } })
}

/** Returns the new recovery key as text; the old one is worth nothing from then on. */
export async function replaceRecoveryKey(holder: Holder, password: string): Promise<string> {
  const current_password = await proofOf(holder, password)
  const key = generateRecoveryKey()
  const recovery = await recoveryOf(key, holder)
  await holder.api.call(replaceRecovery, { body: { current_password, recovery } })
  return writeRecoveryKey(key)
}

/** @throws ApiError `last_owner` with the workspaces that would have no owner */
export async function endAccount(holder: Holder, password: string): Promise<void> {
  const current_password = await proofOf(holder, password)
  await holder.api.call(deleteAccount, { body: { current_password } })
}
