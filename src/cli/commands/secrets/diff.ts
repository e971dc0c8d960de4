import { timingSafeEqual } from 'node:crypto'
import { readSecrets } from '../../../client/environment.ts'
import { isSamePolicy } from '../../../core/crypto/secret_value.ts'
import { EX_FAILED } from '../../../core/exit_codes.ts'
import { command } from '../../command.ts'
import { environmentOf, type ProjectScope, projectScope } from '../../scope.ts'
import { demandEnvironment } from '../../suggestions.ts'
import type { Column } from '../../terminal/table.ts'
import { reveal } from '../../values/sealing.ts'

/**
 * Decrypts both environments and prints the names that differ. `--show-values` also prints the values. @throws CliError
 * for an unreadable value or an unknown environment
 */
export default command({
  usage: 'diff <from> <to>',
  examples: ['secrets diff development production', 'secrets diff staging production --exit-code'],
  options: [
    ['--exit-code', 'exit with 1 if the environments differ'],
    ['--show-values', 'print the differing values'],
  ],
  action: async (context, [from, to], options) => {
    const scope = await projectScope(context)
    for (const environment of [from, to]) await demandEnvironment({ ...scope, environment })
    const show = options.showValues === true
    const opening = Promise.all(
      [from, to].map((name) => openValues({ ...scope, environment: name }, show)),
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
  },
})

const DIFFERENCE: readonly Column[] = [{ field: 'key', whole: true }, 'difference']

function valueColumns(from: string, to: string): Column[] {
  return [
    { field: 'before', title: from, whole: true },
    { field: 'after', title: to, whole: true },
  ]
}

/** `value` only with `--show-values`. */
type Opened = { digest: Uint8Array; policy: unknown; value?: string }

/** Digests have one length, so that comparing them takes one time. */
async function openValues(scope: ProjectScope, show: boolean): Promise<Map<string, Opened>> {
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
