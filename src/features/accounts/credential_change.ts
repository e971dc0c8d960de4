/**
 * Changes of an account's password or recovery key. They need a session and the password, so that a stolen session
 * cannot take over the account.
 */

import { buildFieldFault, Fault } from '../../core/fault.ts'
import type { Caller } from '../../core/grant.ts'
import type { InputOf } from '../../http/endpoint.ts'
import type { AccountServices } from './account_services.ts'
import type { changePassword, replaceRecovery } from './contract.ts'
import {
  type ProvenCredential,
  passwordValues,
  provePassword,
  recoveryValues,
} from './credentials.ts'
import { updateCredentials } from './queries.ts'
import { revokeAllSessions } from './sessions.ts'

type Person = { caller: Caller; network: string }

/** @throws Fault `validation_error` on a wrong password, `conflict`, `rate_limited` */
export async function storePassword(
  services: AccountServices,
  { caller, network }: Person,
  body: InputOf<typeof changePassword, 'body'>,
): Promise<void> {
  const { user, proof } = await requireProof(services, { caller, network }, body.current_password)
  const given = { ...body, password: body.new_password }
  const values = await passwordValues(services, user.id, given)
  await services.db.transaction(async (tx) => {
    if (!(await updateCredentials(tx, user.id, proof, values))) throw overtaken()
    await revokeAllSessions(tx, user.id, { except: caller.sessionId })
  })
}

/** @throws Fault `validation_error` on a wrong password, `conflict`, `rate_limited` */
export async function storeRecoveryKey(
  services: AccountServices,
  person: Person,
  body: InputOf<typeof replaceRecovery, 'body'>,
): Promise<void> {
  const { user, proof } = await requireProof(services, person, body.current_password)
  const values = await recoveryValues(services, user.id, body.recovery)
  await services.db.transaction(async (tx) => {
    if (!(await updateCredentials(tx, user.id, proof, values))) throw overtaken()
  })
}

/** @throws Fault `validation_error` on a wrong password, `rate_limited` */
export async function requireProof(
  services: AccountServices,
  { caller, network }: Person,
  secret: string,
): Promise<ProvenCredential> {
  const proven = await provePassword(services, { email: caller.email, network, secret })
  if (!proven) throw buildFieldFault('current_password', 'is wrong')
  return proven
}

export function overtaken(): Fault {
  return new Fault('conflict', { message: 'The password has changed. Retry.' })
}
