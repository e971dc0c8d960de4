/** A policy's fields as people read them, and how two policies differ. */
import {
  listAllowedLocations,
  type Policy,
  policy as policySchema,
} from '../../../../../../core/policy/policy.ts'
import type { Input } from '../../../../keys/messages.ts'
import { texts } from '../../../../texts/index.ts'

const words = texts.policies

/** An absent list limits nothing, an empty one allows nothing. */
export const lists = [
  'allowed_methods',
  'allowed_domains',
  'allowed_paths',
  'allowed_locations',
  'allowed_headers',
  'sign_templates',
  'allowed_operations',
] as const
export type List = (typeof lists)[number]

/** Fields of one secret, which stay when several get the same limits. */
const singles = ['read_only', 'approval', 'references', 'sensitive', 'description'] as const

type Change = Input<'policies.set'>['change']

/** The path prefix `/v1` covers itself and everything below it. */
export function pathText(prefix: string): string {
  return prefix.endsWith('/') ? `${prefix}*` : `${prefix}/*`
}

export function placesText(policy: Policy): string {
  const places = listAllowedLocations(policy)
  if (places.length === 0) return words.none.allowed_locations
  return words.listed(places.map((place) => words.places[place]))
}

export function listText(policy: Policy, field: List): string {
  if (field === 'allowed_locations') return placesText(policy)
  const list = policy[field]
  if (list === undefined) return words.any[field]
  if (list.length === 0) return words.none[field]
  return words.listed(field === 'allowed_paths' ? list.map(pathText) : list)
}

export function approvalText({ approval }: Policy): string {
  if (approval === undefined) return words.approval.token.none
  const { by, ttl_seconds: seconds } = approval
  return words.approval.token[by](seconds === 0 ? null : texts.waiting.length(seconds))
}

function textOf(policy: Policy, field: keyof Policy): string {
  if (isList(field)) return listText(policy, field)
  if (field === 'approval') return approvalText(policy)
  if (field === 'description') return policy.description ?? '–'
  if (field === 'sensitive') return policy.sensitive === false ? words.no : words.yes
  return policy[field] === undefined ? words.no : words.yes
}

function isList(field: string): field is List {
  return lists.some((list) => list === field)
}

function differ(before: Policy, after: Policy, field: keyof Policy): boolean {
  return JSON.stringify(before[field]) !== JSON.stringify(after[field])
}

/** The fields to send: the changed fields of one secret, or all limits for several secrets. */
export function changeOf(before: Policy, after: Policy, isBulk: boolean): Change {
  const fields = isBulk
    ? lists
    : [...lists, ...singles].filter((name) => differ(before, after, name))
  return Object.fromEntries(fields.map((name) => [name, after[name] ?? null]))
}

/** The exact change, for a `DiffBlock`. */
export function rowsOf(before: Policy, after: Policy, isBulk: boolean) {
  const fields = isBulk ? lists : [...lists, ...singles]
  return fields
    .filter((field) => differ(before, after, field))
    .flatMap((field) => [
      { text: words.row(words.names[field], textOf(before, field)), change: 'removed' as const },
      { text: words.row(words.names[field], textOf(after, field)), change: 'added' as const },
    ])
}

/** Null for a list that can be stored. */
export function problemInFields(
  field: keyof typeof words.wrong,
  list: readonly string[],
): string | null {
  if (policySchema.safeParse({ [field]: list }).success) return null
  return policySchema.safeParse({ [field]: list.slice(-1) }).success
    ? words.tooMany
    : words.wrong[field]
}
