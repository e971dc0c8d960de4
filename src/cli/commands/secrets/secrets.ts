/** Secrets: encrypted and decrypted here, by name on the server. */
import { basename } from 'node:path'
import { deleteSecret, getSecret, listSecrets } from '../../../features/secrets/contract.ts'
import { isSamePolicy } from '../../../platform/crypto/secret_value.ts'
import { isSensitive, type Policy, policy as policySchema } from '../../../platform/policy.ts'
import type {
  confirmOptions,
  pushOptions,
  setOptions,
  tokenOption,
} from '../../catalogue/options.ts'
import type { Action, OptionValues } from '../../command.ts'
import type { Context } from '../../context.ts'
import { checkedValues, readValues, type Values } from '../../files/formats.ts'
import { readNamedFile } from '../../files/read.ts'
import { inWords } from '../../policies/words.ts'
import { type ProjectScope, projectScope } from '../../scope.ts'
import { reveal } from '../../sealing.ts'
import { type Candidate, choiceOf, classified } from '../../sensitivity.ts'
import { provenSecrets, store } from '../../storing.ts'
import { onlyElsewhere, onSecret } from '../../suggestions.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { confirmed } from '../../terminal/confirmed.ts'
import { askSecret, readValueFromStdin } from '../../terminal/prompts.ts'
import type { Row } from '../../terminal/table.ts'
import { namesOfToken, tokenInstead, valueOfToken } from '../../token_work.ts'

type SetOptions = OptionValues<typeof setOptions>

export const set: Action<typeof setOptions> = async (context, pairs, options) => {
  const values = await valuesOf(pairs, options)
  const scope = await projectScope(context)
  const policy = policyOf(options)
  const choice = choiceOf(options)
  const present = policy === undefined ? await provenSecrets(scope, Object.keys(values)) : null
  // Who has a value hidden while it is typed does not mean a setting.
  const policyOfNew = isAsked(pairs, options) ? ('decided' as const) : ('new' as const)
  const candidates = Object.entries(values).map(([key, value]): Candidate => {
    if (present === null) return { key, value, policy, policyIs: 'decided' }
    const policyIs = present.has(key) ? 'stored' : policyOfNew
    return { key, value, policy: present.get(key)?.policy ?? undefined, policyIs }
  })
  const entries = classified(context, candidates, choice)
  report(context, scope, await store(context, scope, entries, options))
  return undefined
}

/** From `NAME=value` pairs, from a file, or one value that is asked for. */
async function valuesOf(pairs: string[], options: SetOptions): Promise<Values> {
  if (options.fromFile !== undefined) return readFile(options.fromFile)
  const [first = ''] = pairs
  if (isAsked(pairs, options)) {
    return checkedValues([[first, await askValue(first, options)]])
  }
  if (pairs.length === 0) throw new CliError('usage', 'give NAME=value, NAME, or --from-file')
  return checkedValues(pairs.map(splitPair))
}

/** Whether a single name was given, without its value. */
function isAsked(pairs: readonly string[], { fromFile }: SetOptions): boolean {
  return fromFile === undefined && pairs.length === 1 && !pairs[0]?.includes('=')
}

async function askValue(name: string, { stdin }: SetOptions): Promise<string> {
  if (stdin) return readValueFromStdin()
  const hint = 'give NAME=value, or the value on standard input with --stdin'
  return askSecret(`Value of ${name}`, { hint })
}

function splitPair(pair: string): [string, string] {
  const at = pair.indexOf('=')
  if (at < 1)
    throw new CliError(
      'usage',
      'several secrets are given as NAME=value',
      'a single NAME asks for its value',
    )
  return [pair.slice(0, at), pair.slice(at + 1)]
}

function readFile(path: string): Values {
  return readValues(basename(path), readNamedFile(path))
}

/** `null` where `--policy null` takes policies away. */
function policyOf({ policy }: SetOptions): Policy | null | undefined {
  if (policy === undefined) return undefined
  try {
    return policySchema.parse(JSON.parse(policy))
  } catch {
    throw new CliError(
      'usage',
      'the policy is not valid',
      `example: --policy '{"allowed_methods":["GET"]}'`,
    )
  }
}

function report(
  context: Context,
  { project, environment }: ProjectScope,
  { created, updated }: { created: number; updated: number },
): void {
  const sentence = `${project.name}/${environment}: ${created} created, ${updated} updated.`
  context.output.done(sentence, { created, updated })
}

export const get: Action<typeof tokenOption> = async (context, [key = ''], options) => {
  const token = tokenInstead(context, options)
  if (token !== undefined) {
    showValue(context, { key, value: await valueOfToken(context, token, key) })
    return undefined
  }
  const scope = await projectScope(context)
  const { session, project, environment } = scope
  const params = { project_id: project.id, key }
  const query = { environment }
  const stored = await onSecret(scope, key, session.api.call(getSecret, { params, query }))
  const value = reveal(scope, stored)
  showValue(context, { key, value, version: stored.version, environment })
  return undefined
}

function showValue({ output }: Context, shown: { key: string; value: string } & Row): void {
  if (output.isJson) output.record(shown)
  else output.raw(output.isTerminal ? `${shown.value}\n` : shown.value)
}

export const list: Action<typeof tokenOption> = async (context, _, options) => {
  const token = tokenInstead(context, options)
  if (token !== undefined) {
    const rows = await namesOfToken(context, token)
    context.output.table(rows, [{ field: 'key', whole: true }, 'environment', 'description'])
    return undefined
  }
  const scope = await projectScope(context)
  const { session, project, environment } = scope
  const secrets = await session.api.list(listSecrets, {
    params: { project_id: project.id },
    query: { environment },
  })
  const rows = secrets.map(({ key, version, updated_at, policy }) => ({
    key,
    version,
    kind: isSensitive(policy) ? 'secret' : 'setting',
    policy: inWords(policy),
    updated_at,
  }))
  context.output.table(
    rows,
    [{ field: 'key', whole: true }, 'kind', 'version', 'policy', 'updated_at'],
    secrets,
  )
  const elsewhere = rows.length === 0 ? await onlyElsewhere(scope) : null
  if (elsewhere !== null) context.output.warn(elsewhere)
  return undefined
}

export const remove: Action<typeof confirmOptions> = async (context, keys, options) => {
  const scope = await projectScope(context)
  const { session, project, environment } = scope
  await confirmed(options, `Delete ${keys.join(', ')} from ${project.name}/${environment}?`)
  for (const key of keys) {
    const params = { project_id: project.id, key }
    const work = session.api.call(deleteSecret, { params, query: { environment } })
    await onSecret(scope, key, work)
  }
  context.output.done(`${keys.length} deleted.`, { deleted: keys })
  return undefined
}

/** Uploads what is new or different; policies of what is there stay, but for what `sensitivity.ts` says. */
export const push: Action<typeof pushOptions> = async (context, [path = '.env'], options) => {
  const values = readFile(path)
  const choice = choiceOf(options)
  const scope = await projectScope(context)
  const known = await provenSecrets(scope, Object.keys(values))
  const same = new Set<string>()
  const candidates = Object.entries(values).map(([key, value]): Candidate => {
    const before = known.get(key)
    if (!before) return { key, value, policy: undefined, policyIs: 'new' }
    const isSame = before.value === value
    if (isSame) same.add(key)
    return {
      key,
      value,
      policy: before.policy ?? undefined,
      policyIs: isSame ? 'decided' : 'stored',
    }
  })
  const changed = classified(context, candidates, choice).filter(
    ({ key, policy }) => !same.has(key) || !isSamePolicy(policy, known.get(key)?.policy),
  )
  report(context, scope, await store(context, scope, changed, options))
  return undefined
}
