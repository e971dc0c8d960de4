/** A password that is chosen, wherever that is: one that is easily guessed is taken nowhere. */
import { inSentences, weaknessOf } from '../../../client/account/password_strength.ts'
import { Refused } from './failure.ts'

/** @throws Refused `weak_password` */
export async function demandStrong(password: string, email: string): Promise<void> {
  const found = await weaknessOf(password, [email])
  if (found) throw new Refused('weak_password', inSentences(found))
}
