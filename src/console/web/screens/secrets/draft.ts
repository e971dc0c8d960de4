/** A policy while it is being written: a field that is null limits nothing, an empty one allows nothing. */

import { type Policy, policy as policySchema } from '../../../../core/policy/policy.ts'

export const listFields = [
  'allowed_domains',
  'allowed_paths',
  'allowed_headers',
  'sign_templates',
  'allowed_operations',
] as const
export const choiceFields = ['allowed_methods', 'allowed_locations'] as const
export type ListField = (typeof listFields)[number]
export type Field = ListField | (typeof choiceFields)[number]
/** As it is typed: a line each. */
export type Draft = { [name in Field]: string[] | null }

export function draftOf(policy: Policy | null): Draft {
  return {
    allowed_domains: policy?.allowed_domains ?? null,
    allowed_methods: policy?.allowed_methods ?? null,
    allowed_paths: policy?.allowed_paths ?? null,
    allowed_headers: policy?.allowed_headers ?? null,
    allowed_locations: policy?.allowed_locations ?? null,
    sign_templates: policy?.sign_templates ?? null,
    allowed_operations: policy?.allowed_operations ?? null,
  }
}

export type Checked =
  | { policy: Policy; problems: null }
  | { policy: null; problems: { [name in Field]?: { entry: string; why: string } } }

/** Lines without anything are none. */
export function checked(draft: Draft): Checked {
  const said = Object.entries(draft).flatMap(([name, lines]) => {
    if (lines === null) return []
    const entries = name === 'sign_templates' ? lines : lines.map((line) => line.trim())
    return [[name, entries.filter((line) => line !== '')] as const]
  })
  const sent = Object.fromEntries(said)
  const { success, data, error } = policySchema.safeParse(sent)
  if (success) return { policy: data ?? {}, problems: null }
  const problems = error.issues.map(({ path: [name, at], message }) => {
    const entry = sent[String(name)]?.[Number(at)] ?? ''
    return [name, { entry, why: message }]
  })
  return { policy: null, problems: Object.fromEntries(problems) }
}

export type Approval = NonNullable<Policy['approval']>

/** Whether the policy is one with the approval: such a secret is no variable, and signs nothing. */
export function canNeedApproval(policy: Policy | null, approval: Approval | null): boolean {
  return !policy || !approval || policySchema.safeParse({ ...policy, approval }).success
}
