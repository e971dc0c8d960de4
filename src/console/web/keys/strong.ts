/** Rejects weak passwords wherever a user chooses one. */
import { formatWeakness, weaknessOf } from '../../../client/account/password_strength.ts'
import { Refused } from './failure.ts'

/** @throws Refused `weak_password` */
export async function demandStrong(password: string, email: string): Promise<void> {
  const found = await weaknessOf(password, [email])
  if (found) throw new Refused('weak_password', formatWeakness(found))
}
