/** Shared by the operations on passkeys. */
import { listRelyingParties } from '../../core/config/passkey_origins.ts'
import { buildFieldFault } from '../../core/fault.ts'
import type { FeatureServices } from '../../http/services.ts'
import type { AccountServices } from '../accounts/index.ts'
import { type Challenges, openChallenges } from './challenges.ts'

export type PasskeyServices = {
  accounts: AccountServices
  challenges: Challenges
  /** Each origin at which passkeys are used, with the host name that they belong to. */
  origins: ReadonlyMap<string, string>
}

export function openPasskeyServices(
  { config, clock }: FeatureServices,
  accounts: AccountServices,
): PasskeyServices {
  const challenges = openChallenges(config.SECRET_KEY, clock)
  return { accounts, challenges, origins: listRelyingParties(config) }
}

/** @throws Fault `validation_error` */
export function partyOf({ origins }: PasskeyServices, origin: string): string {
  const rpId = origins.get(origin)
  if (rpId !== undefined) return rpId
  throw buildFieldFault('origin', 'is not an accepted passkey origin: see PASSKEY_ORIGINS')
}
