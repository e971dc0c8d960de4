/**
 * In the place of Argon2id where a test is not about it: 64 MiB and 0.3 s for each password otherwise. Accounts
 * made with it are opened with it only.
 */
import { hkdfSync } from 'node:crypto'
import type { Argon2id } from '../../src/client/account/argon2.ts'

const KEY_BYTES = 32

export const cheapArgon2id: Argon2id = async (message, salt, costs) =>
  new Uint8Array(hkdfSync('sha256', message, salt, JSON.stringify(costs), KEY_BYTES))
