/** A new account's recovery key. It stays in memory, and is shown before any screen, until the user has saved it. */
import { createShared } from '../shared.ts'

const key = createShared<string | null>(null)

export const offerRecoveryKey = key.set
export const useRecoveryKey = key.useValue
