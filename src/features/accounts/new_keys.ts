/**
 * New keys of an account, or its first signing key, which need a session and the password. Everything sealed to the old
 * keys is replaced in the same transaction.
 */
import { Fault, type FieldFault } from '../../core/fault.ts'
import type { Caller } from '../../core/grant.ts'
import type { InputOf } from '../../http/endpoint.ts'
import type { OpenTransaction } from '../../http/route.ts'
import type { SignedServices } from '../links/index.ts'
import { lockAll, replaceOwn } from '../workspaces/index.ts'
import type { AccountServices } from './account_services.ts'
import type { replaceKeys } from './contract.ts'
import { overtaken, requireProof } from './credential_change.ts'
import { recoveryValues } from './credentials.ts'
import { identityValues } from './identity.ts'
import { dropSeedCopies, lockUser, showKeys, type User, updateCredentials } from './queries.ts'
import { revokeAllSessions } from './sessions.ts'
import { sealWrappedKey } from './wrapped_keys.ts'

type Person = { caller: Caller; network: string; transaction: OpenTransaction }
type NewKeys = InputOf<typeof replaceKeys, 'body'>

/**
 * @throws Fault `validation_error` on a wrong password, on keys that are not new, and with the list of workspaces that
 *   are missing; `not_found`, `conflict`, `epoch_conflict`, `rate_limited`, and the faults of `acceptLink`
 */
export async function giveNewKeys(
  services: AccountServices,
  shared: SignedServices,
  { caller, network, transaction }: Person,
  body: NewKeys,
): Promise<void> {
  const person = { caller, network }
  const { user, proof } = await requireProof(services, person, body.current_password)
  requireNew(user, body)
  const values = await keyValues(services, user, body)
  await transaction(async (tx, audit) => {
    const locked = await lockAll(tx, caller, body.workspaces)
    // After the workspaces: an inviter locks the workspace first, and then the invited person's row.
    if (!(await lockUser(tx, user.id, proof, 'update'))) throw overtaken()
    const isRecorded = await replaceOwn({ tx, caller, audit }, shared, { ...body, locked })
    if (!isRecorded) audit.unchanged()
    await updateCredentials(tx, user.id, proof, values)
    await dropSeedCopies(tx, user.id)
    await revokeAllSessions(tx, user.id, { except: caller.sessionId })
    // Last, so that a conflict or refusal does not use it up.
    await services.rotations.take(user.id, tx)
  })
}

function requireNew(user: User, body: NewKeys): void {
  const shown = showKeys(user)
  const old = (['signing_key', 'public_key'] as const).filter((name) => body[name] === shown[name])
  const fields: FieldFault[] = old.map((path) => ({ path, message: 'must be different' }))
  if (fields.length > 0) throw new Fault('validation_error', { fields })
}

/** A copy for recovery that opens to the old keys is dropped. */
async function keyValues(services: AccountServices, { id, email }: User, body: NewKeys) {
  const { encrypted_private_key: wrapped, recovery } = body
  return {
    ...(await identityValues({ ...body, email })),
    publicKey: Uint8Array.fromBase64(body.public_key),
    encryptedPrivateKey: await sealWrappedKey(
      services.outer,
      'users.encrypted_private_key',
      id,
      wrapped,
    ),
    ...(recovery
      ? await recoveryValues(services, id, recovery)
      : { recoveryVerifierHash: null, recoveryPrivateKey: null }),
  }
}
