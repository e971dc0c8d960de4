/** The fields of a policy as people give them, by the names of their options. */
import type { z } from 'zod'
import { approvalInWords } from '../../client/secrets/policy_in_words.ts'
import { type Policy, policy as policySchema } from '../../core/policy/policy.ts'
import { faultOfDomain } from '../arguments.ts'
import type { OptionValues } from '../command.ts'
import { findNearNames, joinHints } from '../named.ts'
import type { policyFieldOptions } from '../options.ts'
import { CliError } from '../terminal/cli_error.ts'

type FieldOptions = OptionValues<typeof policyFieldOptions>

type Field = {
  name: Exclude<keyof Policy, 'sensitive' | 'kind'>
  /** Null where the option has its own meaning (`approval.ts`). */
  option: keyof FieldOptions | null
  /** Defaults of fields that a policy does not have. */
  absent: string
  /** Whether a comma cannot be part of an entry, and so may stand between two. */
  commas?: true
}

/** By the words that `policy clear` takes, in the order that people are shown. */
const fields: Readonly<Record<string, Field>> = {
  domains: {
    name: 'allowed_domains',
    option: 'domains',
    absent: 'any of the allowlist',
    commas: true,
  },
  methods: { name: 'allowed_methods', option: 'methods', absent: 'any', commas: true },
  paths: { name: 'allowed_paths', option: 'paths', absent: 'any' },
  headers: { name: 'allowed_headers', option: 'headers', absent: 'any', commas: true },
  locations: {
    name: 'allowed_locations',
    option: 'locations',
    absent: 'header, basic, env',
    commas: true,
  },
  'sign-templates': { name: 'sign_templates', option: 'signTemplates', absent: 'any' },
  operations: { name: 'allowed_operations', option: 'operations', absent: 'any', commas: true },
  'read-only': { name: 'read_only', option: 'readOnly', absent: 'no' },
  'basic-encoding': { name: 'basic_encoding', option: 'basicEncoding', absent: 'none' },
  approval: { name: 'approval', option: null, absent: 'none' },
  references: { name: 'references', option: 'references', absent: 'no' },
  description: { name: 'description', option: 'description', absent: '' },
}

export const policyFields = Object.keys(fields)
/** The JSON names of policy fields. */
export const policyNames = [...Object.values(fields).map(({ name }) => name), 'sensitive', 'kind']

/** Each field, with its default. */
export function showFields(policy: Policy | null): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([word, { name, absent }]) => {
      const said = name === 'approval' ? approvalInWords(policy) : policy?.[name]
      const isEmpty = Array.isArray(said) && said.length === 0
      const shown = said === true ? 'yes' : (said ?? absent)
      return [word.replace('-', ' '), isEmpty ? 'none' : shown]
    }),
  )
}

/** The policy with the fields that were given; the others stay. @throws CliError */
export function withFields(policy: Policy | null, options: FieldOptions): Policy | null {
  const changed: Record<string, unknown> = { ...policy }
  for (const field of Object.values(fields)) {
    const given = field.option === null ? undefined : options[field.option]
    if (given !== undefined) changed[field.name] = entriesOf(field, given)
  }
  return checkPolicy(changed)
}

/** Fields that restrict nothing, and approval: removing it lets tokens decrypt the value, so it must be named. */
const MEANING = ['basic-encoding', 'references', 'description', 'approval']

/** Removes these fields, or all restrictions without names. @throws CliError */
export function withoutFields(policy: Policy | null, words: readonly string[]): Policy | null {
  const left: Record<string, unknown> = { ...policy }
  const gone = words.length > 0 ? words : policyFields.filter((word) => !MEANING.includes(word))
  for (const word of gone) delete left[fieldNamed(word).name]
  return checkPolicy(left)
}

function fieldNamed(word: string): Field {
  const field = Object.hasOwn(fields, word) ? fields[word] : undefined
  if (field) return field
  const near = findNearNames(word, policyFields)
  const hint =
    near.length > 0 ? `did you mean ${near.join(', ')}?` : `use one of ${policyFields.join(', ')}`
  throw new CliError('usage', `unknown policy field ${word}`, hint)
}

/** An empty text is an empty list, which allows nothing. */
function entriesOf({ name, commas }: Field, given: string | string[] | boolean): unknown {
  if (!Array.isArray(given)) return given
  const entries = given.flatMap((text) => (commas ? text.split(',') : [text]))
  const named = entries.map((entry) => (commas ? entry.trim() : entry)).filter(Boolean)
  return name === 'allowed_methods' ? named.map((method) => method.toUpperCase()) : named
}

function checkPolicy(policy: Record<string, unknown>): Policy | null {
  if (Object.keys(policy).length === 0) return null
  const { success, data, error } = policySchema.safeParse(policy)
  if (success) return data
  const [issue] = error.issues
  const [word = 'policy'] =
    Object.entries(fields).find(([, { name }]) => name === issue?.path[0]) ?? []
  if (word === 'domains') demandHosts(policy.allowed_domains)
  if (issue?.code === 'invalid_value') throw describeUnknownEntry(word, issue, policy)
  throw new CliError(
    'usage',
    `--${word} is invalid: ${issue?.message}`,
    'examples: cloakroom policy set --help',
  )
}

/** The first that is no host is refused in the words of `allowlist add`. @throws CliError */
function demandHosts(domains: unknown): void {
  for (const text of Array.isArray(domains) ? domains : []) {
    const fault = faultOfDomain(String(text))
    if (fault) throw new CliError('usage', ...fault)
  }
}

/** A word that is not in a field's list, with the near ones. */
function describeUnknownEntry(
  word: string,
  { path, values }: z.core.$ZodIssueInvalidValue,
  policy: unknown,
) {
  const typed = path.reduce<unknown>((value, key) => Object(value)[key], policy)
  const near = findNearNames(String(typed), values.map(String))
  const hint = `use one of ${values.join(', ')}`
  return new CliError(
    'usage',
    `--${word} is invalid: ${typed} is unknown`,
    near.length > 0 ? joinHints(`did you mean ${near.join(', ')}?`, hint) : hint,
  )
}
