/** Checks which keys of the server are in use, and which could be removed. */
import { parseOuterKeys } from '../../core/crypto/outer_keys.ts'
import { Pepper } from '../../core/crypto/pepper.ts'
import { countMadeBy } from '../../database/keys/secret_key_check.ts'
import { CHECK_COUNT, countByKey, countUnder, UNKNOWN } from '../rekey_outer/counts.ts'
import { type Check, type Found, fail, type Patient, warn } from './check.ts'
import { count } from './measure.ts'

export const keyChecks: readonly Check<Patient>[] = [
  {
    name: 'encryption_key',
    docs: 'docs/guides/server-keys.md#rotate-encryption_key',
    run: checkOuter,
  },
  { name: 'secret_key', docs: 'docs/guides/server-keys.md#rotate-secret_key', run: checkSecret },
]

async function checkOuter({ connection, config }: Patient): Promise<Found> {
  const [first, ...others] = parseOuterKeys(config.ENCRYPTION_KEY)
  const counts = await countByKey(connection.sql, config.ENCRYPTION_KEY)
  const countKeysUnder = (wanted: string) => countUnder(counts, (id) => id === wanted)
  const unknown = countKeysUnder(UNKNOWN)
  const said = [first, ...others]
    .map(({ id }) => `${id} seals ${count(countKeysUnder(id), 'row')}`)
    .join(', ')
  if (unknown > 0)
    return fail(
      `${count(unknown, 'row')} ${unknown === 1 ? 'needs' : 'need'} a key that is not in ENCRYPTION_KEY; ${said}`,
      counts[CHECK_COUNT]?.[UNKNOWN] === undefined
        ? 'restore the missing key; cloakroom rekey-outer --dry-run lists the rows'
        : 'restore the missing key: the server and rekey-outer cannot start without it',
    )
  if (others.some(({ id }) => countKeysUnder(id) > 0))
    return warn(said, 'run cloakroom rekey-outer; it reports when the old key can be removed')
  if (others.length > 0)
    return warn(
      said,
      'put a new key first, everywhere; cloakroom rekey-outer reports whether an old key can be removed',
    )
  return said
}

async function checkSecret({ connection, config }: Patient): Promise<Found> {
  const [first, ...older] = Pepper.parse(config.SECRET_KEY).keyIds
  const made = await countMadeBy(connection.db, 'all')
  const known = new Set([first, ...older, ...config.SECRET_KEY_LOST])
  const sum = ({ keyId: _, ...counts }: (typeof made)[number]) =>
    Object.values(counts).reduce((total, number) => total + number, 0)
  const said =
    made.length === 0
      ? 'no stored credentials yet'
      : `stored credentials: ${made.map((row) => `${sum(row)} with ${row.keyId}`).join(', ')}`
  if (made.some(({ keyId }) => !known.has(keyId)))
    return fail(`${said}, and one key is missing`, 'restore the missing key')
  const left = made.filter(({ keyId }) => keyId !== first)
  if (left.length > 0)
    return warn(
      said,
      left.every((row) => sum(row) === row.recovery_keys)
        ? 'only recovery keys still use the older keys, until their owners replace them'
        : 'keep the older keys in SECRET_KEY until nothing uses them',
    )
  if (older.length > 0)
    return warn(said, 'put a new key first, everywhere; remove the old keys, which nothing uses')
  return said
}
