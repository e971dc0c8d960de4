/** Where a stored secret may go, without its value being typed again: it is opened and sealed anew here. */
import { type ProvenValue, provenValue } from '../../client/actions/stored_secrets.ts'
import { policyInWords } from '../../client/secrets/policy_in_words.ts'
import { isSamePolicy } from '../../core/crypto/secret_value.ts'
import { isSensitive, type Policy } from '../../core/policy/policy.ts'
import type { policySetOptions } from '../catalogue/options.ts'
import type { Action } from '../command.ts'
import type { Context } from '../context.ts'
import { shownFields, withFields, withoutFields } from '../policies/fields.ts'
import { environmentOf, type ProjectScope, projectScope } from '../scope.ts'
import { onSecret } from '../suggestions.ts'
import { CliError } from '../terminal/cli_error.ts'
import { marked } from '../values/references.ts'
import { upload } from '../values/sealing.ts'
import { choiceOf, classified } from '../values/sensitivity.ts'
import { throwUnproven } from '../values/storing.ts'

export const show: Action = async (context, [key = '']) => {
  const scope = await projectScope(context)
  const { policy, version } = await provenSecret(scope, key)
  const { environment } = scope
  const words = policyInWords(policy)
  if (context.output.isJson) {
    context.output.record({ key, environment, version, policy, in_words: words })
    return undefined
  }
  const kind = isSensitive(policy) ? 'secret' : 'setting'
  const inShort = words || 'narrows nothing'
  context.output.record({ key, environment, kind, policy: inShort, ...shownFields(policy) })
  return undefined
}

export const set: Action<typeof policySetOptions> = async (context, [key = ''], options) => {
  const choice = choiceOf(options)
  if (Object.values(withFields(null, options) ?? {}).length === 0 && choice === 'by value') {
    const hint = `example: cloakroom policy set ${key} --domains api.stripe.com --methods POST`
    throw new CliError('usage', 'say what is to change', hint)
  }
  return change(context, key, async ({ policy, value }, scope) => {
    const candidate = { key, value, policy: withFields(policy, options) }
    const entries = classified(context, [{ ...candidate, policyIs: 'decided' }], choice)
    const [entry] = await marked(context, scope, entries, options)
    return entry?.policy ?? null
  })
}

export const clear: Action = async (context, [key = '', ...words]) => {
  withoutFields(null, words)
  return change(context, key, async ({ policy }) => withoutFields(policy, words))
}

/** A policy that the ciphertext does not open with is not its author's. @throws CliError */
function provenSecret(scope: ProjectScope, key: string): Promise<ProvenValue> {
  return onSecret(scope, key, provenValue(environmentOf(scope), key).catch(throwUnproven))
}

/** Stores the same value under another policy, as a new version. */
async function change(
  context: Context,
  key: string,
  policyFor: (stored: ProvenValue, scope: ProjectScope) => Promise<Policy | null>,
): Promise<undefined> {
  const scope = await projectScope(context)
  const stored = await provenSecret(scope, key)
  const policy = await policyFor(stored, scope)
  const here = `${scope.project.name}/${scope.environment}: ${key}`
  const words = policyInWords(policy) || 'its policy narrows nothing'
  if (isSamePolicy(policy, stored.policy)) {
    const data = { key, version: stored.version, policy, changed: false }
    context.output.done(`${here} has this policy already: ${words}.`, data)
    return
  }
  const { value, version: expectedVersion } = stored
  const work = upload(scope, [{ key, value, policy, expectedVersion }], false)
  await context.output.during('encrypting and uploading', work)
  const version = expectedVersion + 1
  context.output.done(`${here}: ${words}.`, { key, version, policy, changed: true })
}
