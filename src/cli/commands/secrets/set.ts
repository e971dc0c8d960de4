import type { Candidate } from '../../../client/secrets/final_policy.ts'
import { isHeld, type Policy, policy as policySchema } from '../../../core/policy/policy.ts'
import { printable } from '../../../core/printable.ts'
import { fieldFaults } from '../../../core/validation/complaints.ts'
import { command, type OptionValues } from '../../command.ts'
import type { Context } from '../../context.ts'
import { dialectOf, refuseDialect } from '../../files/dialects/index.ts'
import { checkValues, readValuesOf, type Values } from '../../files/formats.ts'
import type { Host } from '../../host.ts'
import { findNearNames } from '../../named.ts'
import {
  approvalOptions,
  dialect,
  references,
  sensitivityOptions,
  storedEmpty,
  storedUnsafe,
  yes,
} from '../../options.ts'
import { adviseReplacing, changesApproval, withApproval } from '../../policies/approval.ts'
import { withDefaults } from '../../policies/defaults.ts'
import { policyNames } from '../../policies/fields.ts'
import { projectScope } from '../../scope.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { askSecret, readValueFromStdin } from '../../terminal/prompts.ts'
import { markReferences } from '../../values/references.ts'
import type { Entry } from '../../values/sealing.ts'
import { choiceOf, classifyEntries } from '../../values/sensitivity.ts'
import { loadStoredSecrets, readProvenSecrets, reportStored, store } from '../../values/storing.ts'
import { confirmUnusual } from '../../values/unusual.ts'

const options = [
  ['--mine', 'store the value only on this machine, for you'],
  [
    '--from-file <path>',
    'dotenv, JSON or YAML file, or a Doppler or Infisical export; - for standard input',
  ],
  dialect,
  ['--stdin', 'read the value of a single NAME from standard input'],
  ['--policy <json>', 'policy as JSON; null removes the policy (default: unchanged)'],
  ['--kind <kind>', 'the value is a connection in JSON: oauth2, github_app or aws_role'],
  ...approvalOptions,
  references,
  ...sensitivityOptions,
  storedEmpty,
  storedUnsafe,
  yes,
] as const

export default command({
  usage: 'set [pairs...]',
  examples: [
    'secrets set STRIPE_KEY=sk_live_1 MODE=live',
    'secrets set STRIPE_KEY',
    'secrets set PORT=8080 GREETING=hello --plain',
    "secrets set 'DATABASE_URL=postgres://app:${DB_PASSWORD}@db/app' --references",
    'secrets set DB_HOST=localhost --mine',
    'secrets set --from-file .env',
    'secrets set KEY=x --policy \'{"allowed_methods":["GET"]}\'',
    'secrets set DRIVE_TOKEN --kind oauth2 --stdin',
    'secrets set PAYOUT_KEY --approval member --approval-ttl 15m',
  ],
  options,
  action: async (context, pairs, options) => {
    const values = await valuesOf(context, pairs, options)
    if (options.mine) return setOwn(context, values, options)
    const scope = await projectScope(context)
    const policy = policyOf(options)
    const chosen = choiceOf(options)
    const isApproved = changesApproval(options) && options.approval !== 'none'
    const choice = isApproved ? 'sensitive' : chosen
    const present =
      policy === undefined ? await readProvenSecrets(scope, Object.keys(values)) : null
    // A value that is typed hidden is not meant as a setting.
    const policyOfNew = isAsked(pairs, options) ? ('decided' as const) : ('new' as const)
    const candidates = Object.entries(values).map(([key, value]): Candidate => {
      if (present === null) return { key, value, policy, policyIs: 'decided' }
      const before = present.get(key)
      const policyIs = before ? 'stored' : policyOfNew
      const expectedVersion = before?.version ?? 0
      return { key, value, policy: before?.policy ?? undefined, policyIs, expectedVersion }
    })
    const defaulted = withDefaults(context, classifyEntries(context, candidates, choice))
    const entries = await markReferences(
      context,
      scope,
      changesApproval(options) ? withApprovals(defaulted, options) : defaulted,
      options,
    )
    await confirmUnusual(context, entries, options)
    const before = entries.some(({ policy }) => isHeld(policy))
      ? (present ?? (await loadStoredSecrets(scope, Object.keys(values))))
      : null
    const counts = await store(context, scope, entries, options)
    if (before) adviseReplacing(context, scope, entries, before)
    reportStored(context, scope, counts)
  },
})

type SetOptions = OptionValues<typeof options>

function withApprovals(entries: readonly Entry[], options: SetOptions): Entry[] {
  if (options.plain || options.references)
    throw new CliError('usage', '--approval excludes --plain and --references')
  return entries.map((entry) => ({
    ...entry,
    policy: withApproval(entry.key, entry.policy ?? null, options),
  }))
}

/** A value of the person's own, which no server is sent. @throws CliError for options that only a stored value can have */
async function setOwn(context: Context, values: Values, options: SetOptions): Promise<undefined> {
  const { policy, sensitive, plain } = options
  if (policy !== undefined || sensitive || plain || changesApproval(options)) {
    throw new CliError(
      'usage',
      'your own values have no policy: omit --policy, --approval, --sensitive and --plain',
    )
  }
  const scope = await projectScope(context)
  const entries = Object.entries(values).map(([key, value]) => ({ key, value, policy: undefined }))
  const final = await markReferences(context, scope, entries, {
    ...options,
    own: scope.session.own.of(scope),
  })
  await confirmUnusual(context, final, options)
  const own = final.map(
    ({ key, value, policy }) => [key, { value, references: policy?.references === true }] as const,
  )
  scope.session.own.set(scope, new Map(own))
  const names = Object.keys(values)
  const { project, environment } = scope
  const sentence = `${project.name}/${environment}: ${names.join(', ')}, only for you on this machine.`
  context.output.done(sentence, { mine: names })
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
    return checkValues([{ name: first, value: await askValue(host, first, options) }])
  }
  if (pairs.length === 0) throw new CliError('usage', 'give NAME=value, NAME, or --from-file')
  return checkValues(pairs.map(splitPair))
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
      'give several secrets as NAME=value',
      'give a single NAME to be prompted for its value',
    )
  return { name: pair.slice(0, at), value: pair.slice(at + 1) }
}

/** `null` where `--policy null` removes policies. @throws CliError */
function policyOf({ policy, kind }: SetOptions): Policy | null | undefined {
  if (kind === undefined) return policy === undefined ? undefined : policyFromJson(policy)
  const fields = policy === undefined ? {} : policyFromJson(policy)
  return policyFromJson(JSON.stringify({ ...fields, kind }))
}

const EXAMPLE = `example: --policy '{"allowed_methods":["GET"]}'`
const MAX_SHOWN = 100
/** Other words for a field. */
const ALIKE: Readonly<Record<string, string>> = {
  hosts: 'allowed_domains',
  verbs: 'allowed_methods',
  places: 'allowed_locations',
}

/** `null` where the text is `null`, which removes a policy. @throws CliError */
function policyFromJson(text: string): Policy | null {
  const given = parseJson(text)
  const { success, data, error } = policySchema.safeParse(given)
  if (success) return data
  const [issue] = error.issues
  if (issue?.code === 'unrecognized_keys' && issue.path.length === 0)
    throw buildUnknownFieldError(issue.keys[0] ?? '')
  const [fault] = fieldFaults(error.issues)
  const path = fault?.path ? `${fault.path} ` : ''
  throw new CliError('usage', `the policy is invalid: ${path}${fault?.message ?? ''}`, EXAMPLE)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new CliError('usage', 'the policy is not JSON', EXAMPLE)
  }
}

function buildUnknownFieldError(name: string): CliError {
  const alike = ALIKE[name.replace(/^allowed_/, '')]
  const near = alike === undefined ? findNearNames(name, policyNames) : [alike]
  const hint =
    near.length > 0 ? `is it ${near.join(', ')}?` : `use one of ${policyNames.join(', ')}`
  const shown = printable(name).slice(0, MAX_SHOWN)
  return new CliError('usage', `the policy has an unknown field: ${shown}`, hint)
}
