/** What environments differ in, and what a secret was before. */
import { timingSafeEqual } from 'node:crypto'
import { rollBackTo } from '../../../client/actions/stored_secrets.ts'
import { readSecrets } from '../../../client/environment.ts'
import { isSamePolicy } from '../../../core/crypto/secret_value.ts'
import { EX_FAILED } from '../../../core/exit_codes.ts'
import type { Policy } from '../../../core/policy/policy.ts'
import { listVersions } from '../../../features/secrets/contract.ts'
import type { diffOptions, rollBackOptions } from '../../catalogue/options.ts'
import type { Action } from '../../command.ts'
import { environmentOf, type ProjectScope, projectScope } from '../../scope.ts'
import { demandEnvironment, onSecret } from '../../suggestions.ts'
import { confirmed } from '../../terminal/confirmed.ts'
import type { Column } from '../../terminal/table.ts'
import { opened, reveal } from '../../values/sealing.ts'
import { storedSecrets, throwUnproven, unproven } from '../../values/storing.ts'
import { versionOf } from '../../values/versions.ts'

/**
 * Opens both environments here and prints the names that differ. Values are hidden, with their lengths, unless
 * `--show-values` asks for them.
 *
 * @throws CliError where a value does not open, or there is no such environment
 */
export const diff: Action<typeof diffOptions> = async (context, [from = '', to = ''], options) => {
  const scope = await projectScope(context)
  for (const environment of [from, to]) await demandEnvironment({ ...scope, environment })
  const show = options.showValues === true
  const opening = Promise.all(
    [from, to].map((name) => openedIn({ ...scope, environment: name }, show)),
  )
  const [before = new Map(), after = new Map()] = await context.output.during(
    'fetching and decrypting',
    opening,
  )
  const compared = [...new Set([...before.keys(), ...after.keys()])].sort().map((key) => {
    const [one, other] = [before.get(key), after.get(key)]
    if (one && other) return { key, difference: differenceOf(one, other), in: 'both' as const }
    if (one) return { key, difference: `only in ${from}`, in: 'from' as const }
    return { key, difference: `only in ${to}`, in: 'to' as const }
  })
  const inBoth = compared.filter((row) => row.in === 'both')
  const keysOf = (rows: typeof compared, ...differences: string[]) =>
    rows.filter(({ difference }) => differences.includes(difference)).map(({ key }) => key)
  const differing = compared
    .filter(({ difference }) => difference !== 'same')
    .map((row) => ({
      ...row,
      before: before.get(row.key)?.value,
      after: after.get(row.key)?.value,
    }))
  const data = {
    from,
    to,
    in_from_only: compared.filter((row) => row.in === 'from').map(({ key }) => key),
    in_to_only: compared.filter((row) => row.in === 'to').map(({ key }) => key),
    in_both: inBoth.map(({ key }) => key),
    same: keysOf(inBoth, 'same'),
    different_value: keysOf(inBoth, 'value', 'value and policy'),
    different_policy: keysOf(inBoth, 'policy', 'value and policy'),
    ...(show
      ? { values: differing.map(({ key, before, after }) => ({ key, before, after })) }
      : {}),
  }
  const isSame = differing.length === 0
  if (isSame && !context.output.isJson) context.output.say(`${from} and ${to} are the same.`)
  else
    context.output.table(
      differing,
      show ? [...DIFFERENCE, ...valueColumns(from, to)] : DIFFERENCE,
      data,
    )
  return options.exitCode && !isSame ? EX_FAILED : undefined
}

const DIFFERENCE: readonly Column[] = [{ field: 'key', whole: true }, 'difference']

function valueColumns(from: string, to: string): Column[] {
  return [
    { field: 'before', title: from, whole: true },
    { field: 'after', title: to, whole: true },
  ]
}

/** `value` only where it is to be shown. */
type Opened = { digest: Uint8Array; policy: unknown; value?: string }

/** Digests have one length, so that comparing them takes one time. */
async function openedIn(scope: ProjectScope, show: boolean): Promise<Map<string, Opened>> {
  const secrets = await readSecrets(environmentOf(scope), { include: 'value' })
  return new Map(
    secrets.map((secret) => {
      const value = reveal(scope, secret)
      const digest = new Bun.CryptoHasher('sha256').update(value).digest()
      return [secret.key, { digest, policy: secret.policy, ...(show ? { value } : {}) }]
    }),
  )
}

function differenceOf(one: Opened, other: Opened): string {
  const parts = [
    ...(timingSafeEqual(one.digest, other.digest) ? [] : ['value']),
    ...(isSamePolicy(one.policy, other.policy) ? [] : ['policy']),
  ]
  return parts.join(' and ') || 'same'
}

export const history: Action = async (context, [key = '']) => {
  const scope = await projectScope(context)
  const { session, project, environment } = scope
  const params = { project_id: project.id, key }
  const work = session.api.list(listVersions, { params, query: { environment } })
  const versions = await onSecret(scope, key, work)
  context.output.table(versions, [
    'version',
    { field: 'created_by_email', title: 'by' },
    'created_at',
  ])
  return undefined
}

/**
 * Makes an earlier value the newest: its ciphertext binds the place and the policy, not the number. So the
 * policy of then comes back with it, proven by opening it; where it is another than today's, people are asked.
 */
export const rollBack: Action<typeof rollBackOptions> = async (
  context,
  [key = '', version = ''],
  options,
) => {
  const scope = await projectScope(context)
  const earlier = await versionOf(scope, key, version)
  if (opened(scope, earlier) === null) throw unproven([`${key}, version ${version}`])
  const policy = (earlier.policy ?? null) as Policy | null
  const present = (await storedSecrets(scope, [key])).get(key)
  const to = JSON.stringify(policy)
  if (present && present.value === null) {
    await confirmed(
      context.host,
      options,
      `Today's policy is altered or lost; it becomes ${to}. Go on?`,
    )
  } else if (!isSamePolicy(policy, present?.policy)) {
    const from = JSON.stringify(present?.policy ?? null)
    await confirmed(
      context.host,
      options,
      `The policy goes back too, from ${from} to ${to}. Go on?`,
    )
  }
  const by = earlier.created_by_email ?? 'somebody who is gone'
  context.output.note(`${key}: version ${version}, stored ${earlier.created_at} by ${by}`)
  const work = rollBackTo(environmentOf(scope), earlier).catch(throwUnproven)
  const now = await onSecret(scope, key, work)
  context.output.done(`${key} is back to version ${version}, as version ${now.version}.`, {
    key,
    version: now.version,
    restored_version: earlier.version,
  })
  return undefined
}
