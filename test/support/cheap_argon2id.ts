/**
 * Replaces Argon2id in tests of other subjects: otherwise each password needs 64 MiB and 0.3 s. Accounts created with
 * it open only with it.
 */
import { hkdfSync } from 'node:crypto'
import type { Argon2id } from '../../src/client/account/argon2.ts'

const KEY_BYTES = 32

export const cheapArgon2id: Argon2id = async (message, salt, costs) =>
  new Uint8Array(hkdfSync('sha256', message, salt, JSON.stringify(costs), KEY_BYTES))
