/** `--approval`: a secret of which each use needs a person's approval (protocol 14.1). */
import { withoutField } from '../../client/secrets/final_policy.ts'
import {
  type Approver,
  approvers,
  isHeld,
  type Policy,
  policy as policySchema,
} from '../../core/policy/policy.ts'
import type { OptionValues } from '../command.ts'
import type { Context } from '../context.ts'
import type { approvalOptions } from '../options.ts'
import type { ProjectScope } from '../scope.ts'
import { CliError } from '../terminal/cli_error.ts'
import { durationOf } from '../terminal/moments.ts'
import type { Entry } from '../values/sealing.ts'

type Given = OptionValues<typeof approvalOptions>

const TTL = { option: '--approval-ttl', example: '15m', least: '0s', most: '1d' }

/** Whether an option changes the approval. */
export function changesApproval({ approval, approvalTtl }: Given): boolean {
  return approval !== undefined || approvalTtl !== undefined
}

/**
 * The policy with the approval that was given. A time that is not given stays, and is 0 for a new approval. A setting
 * becomes a secret.
 *
 * @throws CliError
 */
export function withApproval(key: string, policy: Policy | null, given: Given): Policy | null {
  if (!changesApproval(given)) return policy
  const before = policy?.approval
  const by = approverOf(given.approval) ?? before?.by
  if (by === 'none') {
    if (given.approvalTtl === undefined) return withoutField(policy, 'approval')
    throw new CliError('usage', '--approval-ttl has no effect with --approval none')
  }
  const ms = given.approvalTtl === undefined ? null : durationOf(given.approvalTtl, TTL)
  if (by === undefined)
    throw new CliError(
      'usage',
      `${key} needs no approval, so --approval-ttl has no effect`,
      'add --approval member, or --approval admin',
    )
  const ttl_seconds = ms === null ? (before?.ttl_seconds ?? 0) : ms / 1_000
  return demandValid(key, { ...withoutField(policy, 'sensitive'), approval: { by, ttl_seconds } })
}

function approverOf(text: string | undefined): Approver | 'none' | undefined {
  if (text === undefined) return undefined
  const known = [...approvers, 'none' as const].find((word) => word === text)
  if (known) return known
  throw new CliError('usage', `--approval is member, admin or none, not ${text}`)
}

/** Fields of the policy that exclude approval, with remedies. */
const EXCLUDED: Readonly<Record<string, string>> = {
  kind: 'the server renews it, so it cannot be withheld from the server',
  references: 'its value refers to other secrets',
  allowed_locations: 'set its locations again: --locations header',
}

/** @throws CliError */
function demandValid(key: string, policy: Policy): Policy {
  const { success, data, error } = policySchema.safeParse(policy)
  if (success && data) return data
  const [issue] = error?.issues ?? []
  const field = String(issue?.path[0] ?? 'policy')
  const message = `${key} cannot need an approval: ${field} ${issue?.message ?? 'is not valid'}`
  throw new CliError('usage', message, EXCLUDED[field] ?? null)
}

type Stored = { value: string | null; policy: Policy | null }

/** Names the secrets that are held from now on, and whose old value still counts: tokens could open it. */
export function adviseReplacing(
  { output }: Pick<Context, 'output'>,
  { environment }: Pick<ProjectScope, 'environment'>,
  entries: readonly Entry[],
  before: ReadonlyMap<string, Stored>,
): void {
  const exposed = entries.filter(({ key, value, policy }) => {
    const stored = before.get(key)
    return stored && isHeld(policy) && !isHeld(stored.policy) && stored.value === value
  })
  if (exposed.length === 0) return
  const names = exposed.map(({ key }) => key)
  output.warn(
    `Tokens could decrypt ${names.join(', ')} until now. Rotate the value at its issuer, and store the new one: cloakroom secrets set ${names[0]} -e ${environment}`,
    'Earlier versions and deleted values of this name were removed.',
  )
}
