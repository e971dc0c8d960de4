/** Secrets: encrypted here, by name on the server. */
import { readSecrets } from '../../../client/environment.ts'
import type { Candidate } from '../../../client/secrets/final_policy.ts'
import { policyInWords } from '../../../client/secrets/policy_in_words.ts'
import { isSensitive, type Policy } from '../../../core/policy/policy.ts'
import type { tokenOption } from '../../catalogue/options.ts'
import type { setOptions } from '../../catalogue/storing.ts'
import type { Action, OptionValues } from '../../command.ts'
import type { Context } from '../../context.ts'
import { dialectOf, refuseDialect } from '../../files/dialects/index.ts'
import { checkedValues, readValuesOf, type Values } from '../../files/formats.ts'
import type { Host } from '../../host.ts'
import { withDefaults } from '../../policies/defaults.ts'
import { policyFromJson } from '../../policies/json.ts'
import { environmentOf, projectScope } from '../../scope.ts'
import { onlyElsewhere } from '../../suggestions.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { askSecret, readValueFromStdin } from '../../terminal/prompts.ts'
import { namesOfToken, tokenInstead } from '../../tokens/token_work.ts'
import { marked } from '../../values/references.ts'
import { choiceOf, classified } from '../../values/sensitivity.ts'
import { provenSecrets, reportStored, store } from '../../values/storing.ts'
import { confirmUnusual } from '../../values/unusual.ts'
import { setOwn } from './own.ts'

type SetOptions = OptionValues<typeof setOptions>

export const set: Action<typeof setOptions> = async (context, pairs, options) => {
  const values = await valuesOf(context, pairs, options)
  if (options.mine) return setOwn(context, values, options)
  const scope = await projectScope(context)
  const policy = policyOf(options)
  const choice = choiceOf(options)
  const present = policy === undefined ? await provenSecrets(scope, Object.keys(values)) : null
  // Who has a value hidden while it is typed does not mean a setting.
  const policyOfNew = isAsked(pairs, options) ? ('decided' as const) : ('new' as const)
  const candidates = Object.entries(values).map(([key, value]): Candidate => {
    if (present === null) return { key, value, policy, policyIs: 'decided' }
    const before = present.get(key)
    const policyIs = before ? 'stored' : policyOfNew
    const expectedVersion = before?.version ?? 0
    return { key, value, policy: before?.policy ?? undefined, policyIs, expectedVersion }
  })
  const entries = await marked(
    context,
    scope,
    withDefaults(context, classified(context, candidates, choice)),
    options,
  )
  await confirmUnusual(context, entries, options)
  reportStored(context, scope, await store(context, scope, entries, options))
  return undefined
}

/** From `NAME=value` pairs, from a file, or one value that is asked for. */
async function valuesOf(
  { host, output }: Context,
  pairs: string[],
  options: SetOptions,
): Promise<Values> {
  if (options.fromFile !== undefined) {
    const dialect = dialectOf(options)
    return readValuesOf(host, options.fromFile, { note: output.warn, dialect })
  }
  refuseDialect(options)
  const [first = ''] = pairs
  if (isAsked(pairs, options)) {
    return checkedValues([{ name: first, value: await askValue(host, first, options) }])
  }
  if (pairs.length === 0) throw new CliError('usage', 'give NAME=value, NAME, or --from-file')
  return checkedValues(pairs.map(splitPair))
}

/** Whether a single name was given, without its value. */
function isAsked(pairs: readonly string[], { fromFile }: SetOptions): boolean {
  return fromFile === undefined && pairs.length === 1 && !pairs[0]?.includes('=')
}

async function askValue(host: Host, name: string, { stdin }: SetOptions): Promise<string> {
  if (stdin) return readValueFromStdin(host)
  const hint = 'give NAME=value, or the value on standard input with --stdin'
  return askSecret(host, `Value of ${name}`, { hint })
}

function splitPair(pair: string): { name: string; value: string } {
  const at = pair.indexOf('=')
  if (at < 1)
    throw new CliError(
      'usage',
      'several secrets are given as NAME=value',
      'a single NAME asks for its value',
    )
  return { name: pair.slice(0, at), value: pair.slice(at + 1) }
}

/** `null` where `--policy null` removes policies. @throws CliError */
function policyOf({ policy }: SetOptions): Policy | null | undefined {
  return policy === undefined ? undefined : policyFromJson(policy)
}

export const list: Action<typeof tokenOption> = async (context, _, options) => {
  const token = tokenInstead(context, options)
  if (token !== undefined) {
    const rows = await namesOfToken(context, token)
    context.output.table(rows, [{ field: 'key', whole: true }, 'environment', 'description'])
    return undefined
  }
  const scope = await projectScope(context)
  const { session, environment } = scope
  const secrets = await readSecrets(environmentOf(scope))
  const own = session.own.of(scope)
  const rows = secrets.map(({ key, version, updated_at, policy }) => ({
    key,
    version,
    kind: `${isSensitive(policy) ? 'secret' : 'setting'}${own.has(key) ? ', yours here' : ''}`,
    policy: policyInWords(policy),
    updated_at,
  }))
  const stored = secrets.map((secret) => (own.has(secret.key) ? { ...secret, mine: true } : secret))
  const names = new Set(secrets.map(({ key }) => key))
  const added = [...own.keys()].filter((key) => !names.has(key))
  context.output.table(
    [...rows, ...added.map((key) => ({ key, kind: 'yours here only' }))],
    [{ field: 'key', whole: true }, 'kind', 'version', 'policy', 'updated_at'],
    [...stored, ...added.map((key) => ({ key, environment, mine: true }))],
  )
  const elsewhere = rows.length === 0 ? await onlyElsewhere(scope) : null
  if (elsewhere !== null) context.output.warn(elsewhere)
  return undefined
}
