/**
 * Recovery (protocol 3.1): a key that was shown once proves itself by a verifier, which is stored like
 * a password, and opens a second copy of the keys. It works once: a recovery replaces it, and
 * ends every session and removes every passkey, since others may have opened or added one.
 */
import { Fault } from '../../core/fault.ts'
import type { InputOf } from '../../http/endpoint.ts'
import type { AccountServices } from './account_services.ts'
import type { beginRecovery, recover } from './contract.ts'
import { passwordValues, proveRecovery, recoveryValues } from './credentials.ts'
import { deletePasskeys, showKeys, updateCredentials } from './queries.ts'
import { revokeAllSessions } from './sessions.ts'
import { openWrappedKey } from './wrapped_keys.ts'

type Given = InputOf<typeof beginRecovery, 'body'>

/** @throws Fault `invalid_credentials`, `rate_limited` */
export async function showRecoveryCopy(services: AccountServices, body: Given, network: string) {
  const { user, copy } = await requireProof(services, body, network)
  const column = 'users.recovery_private_key'
  return {
    ...showKeys(user),
    encrypted_private_key: await openWrappedKey(services.outer, column, user.id, copy),
  }
}

/** @throws Fault `invalid_credentials`, `rate_limited` */
export async function storeRecoveredKeys(
  services: AccountServices,
  body: InputOf<typeof recover, 'body'>,
  network: string,
): Promise<void> {
  const { user, proof } = await requireProof(services, body, network)
  const values = {
    ...(await passwordValues(services, user.id, { ...body, password: body.new_password })),
    ...(await recoveryValues(services, user.id, body.recovery)),
  }
  await services.db.transaction(async (tx) => {
    // The key may have been used concurrently.
    if (!(await updateCredentials(tx, user.id, proof, values))) throw refusal()
    // First these: who removes one passkey locks in the same order, it and then its sessions.
    await deletePasskeys(tx, user.id)
    await revokeAllSessions(tx, user.id)
  })
}

async function requireProof(
  services: AccountServices,
  { email, recovery_verifier: secret }: Given,
  network: string,
) {
  const proven = await proveRecovery(services, { email, network, secret })
  if (!proven) throw refusal()
  return proven
}

function refusal(): Fault {
  return new Fault('invalid_credentials', {
    message: 'The email address or recovery key is wrong.',
  })
}
