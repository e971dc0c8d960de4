/** Checks which keys of the server are in use, and which could be removed. */
import { outerKeysIn } from '../../core/crypto/outer_keys.ts'
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
  const [first, ...others] = outerKeysIn(config.ENCRYPTION_KEY)
  const counts = await countByKey(connection.sql, config.ENCRYPTION_KEY)
  const under = (wanted: string) => countUnder(counts, (id) => id === wanted)
  const unknown = under(UNKNOWN)
  const said = [first, ...others]
    .map(({ id }) => `${id} seals ${count(under(id), 'row')}`)
    .join(', ')
  if (unknown > 0)
    return fail(
      `${count(unknown, 'row')} ${unknown === 1 ? 'is' : 'are'} under no key of ENCRYPTION_KEY; ${said}`,
      counts[CHECK_COUNT]?.[UNKNOWN] === undefined
        ? 'put back the key that is missing; cloakroom rekey-outer --dry-run names the rows'
        : 'put back the key that is missing: without it no server starts, and rekey-outer is refused',
    )
  if (others.some(({ id }) => under(id) > 0))
    return warn(said, 'run cloakroom rekey-outer: it says when the old key can go')
  if (others.length > 0)
    return warn(
      said,
      'put one that is new first, everywhere; of one that is old cloakroom rekey-outer says whether it can go',
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
      ? 'it made no log-in, session or token yet'
      : `${made.map((row) => `${row.keyId} made ${sum(row)}`).join(', ')} log-ins, sessions and tokens`
  if (made.some(({ keyId }) => !known.has(keyId)))
    return fail(`${said}, and one is missing`, 'put back the key that is missing')
  const left = made.filter(({ keyId }) => keyId !== first)
  if (left.length > 0)
    return warn(
      said,
      left.every((row) => sum(row) === row.recovery_keys)
        ? 'only recovery keys are left of the older keys: they move when their people replace them'
        : 'keep the older keys in SECRET_KEY until nothing is left of them',
    )
  if (older.length > 0)
    return warn(
      said,
      'put one that is new first, everywhere; take one that is old out: nothing needs it',
    )
  return said
}
