/** The recovery key of an account that was just made: in memory until the person has kept it, and shown before all else. */
import { shared } from '../shared.ts'

const key = shared<string | null>(null)

export const offerRecoveryKey = key.set
export const useRecoveryKey = key.useValue
