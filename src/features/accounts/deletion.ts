/**
 * The end of an account, by a person who has a session and still must know the password. What they made for
 * others stays: secrets, agents and tokens of shared workspaces, and the audit.
 */
import { Fault, invalidField } from '../../core/fault.ts'
import type { Caller } from '../../core/grant.ts'
import type { InputOf } from '../../http/endpoint.ts'
import type { OpenTransaction } from '../../http/route.ts'
import { leaveAll } from '../workspaces/index.ts'
import type { AccountServices } from './account_services.ts'
import type { deleteAccount } from './contract.ts'
import { provePassword } from './credentials.ts'
import { deleteUser, lockUser } from './queries.ts'

type Person = { caller: Caller; network: string; transaction: OpenTransaction }

/** @throws Fault `validation_error` on a wrong password, `last_owner`, `conflict`, `rate_limited` */
export async function endAccount(
  services: AccountServices,
  { caller, network, transaction }: Person,
  { current_password: secret }: InputOf<typeof deleteAccount, 'body'>,
): Promise<void> {
  const proven = await provePassword(services, { email: caller.email, network, secret })
  if (!proven) throw invalidField('current_password', 'is wrong')
  if (caller.isInstanceOwner) {
    throw new Fault('conflict', {
      message: 'This account owns the installation, which would have no owner without it.',
    })
  }
  await transaction(async (tx, audit) => {
    if (!(await lockUser(tx, caller.userId, proven.proof))) {
      throw new Fault('conflict', { message: 'The password was changed in the meantime.' })
    }
    const isRecorded = await leaveAll({ tx, caller, audit })
    if (!isRecorded) audit.unchanged()
    await deleteUser(tx, caller.userId)
  })
}
