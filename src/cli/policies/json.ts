/** A policy as JSON on the command line: a refusal names the field that is unknown or invalid. */

import { type Policy, policy as policySchema } from '../../core/policy/policy.ts'
import { printable } from '../../core/printable.ts'
import { fieldFaults } from '../../core/validation/complaints.ts'
import { nearNames } from '../named.ts'
import { CliError } from '../terminal/cli_error.ts'
import { policyNames } from './fields.ts'

const EXAMPLE = `example: --policy '{"allowed_methods":["GET"]}'`
const MAX_SHOWN = 100
/** Other words for a field. */
const ALIKE: Readonly<Record<string, string>> = {
  hosts: 'allowed_domains',
  verbs: 'allowed_methods',
  places: 'allowed_locations',
}

/** `null` where the text is `null`, which removes a policy. @throws CliError */
export function policyFromJson(text: string): Policy | null {
  const given = parsed(text)
  const { success, data, error } = policySchema.safeParse(given)
  if (success) return data
  const [issue] = error.issues
  if (issue?.code === 'unrecognized_keys' && issue.path.length === 0)
    throw unknownField(issue.keys[0] ?? '')
  const [fault] = fieldFaults(error.issues)
  const path = fault?.path ? `${fault.path} ` : ''
  throw new CliError('usage', `the policy is not valid: ${path}${fault?.message ?? ''}`, EXAMPLE)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new CliError('usage', 'the policy is not JSON', EXAMPLE)
  }
}

function unknownField(name: string): CliError {
  const alike = ALIKE[name.replace(/^allowed_/, '')]
  const near = alike === undefined ? nearNames(name, policyNames) : [alike]
  const hint =
    near.length > 0 ? `is it ${near.join(', ')}?` : `use one of ${policyNames.join(', ')}`
  const shown = printable(name).slice(0, MAX_SHOWN)
  return new CliError('usage', `the policy has an unknown field: ${shown}`, hint)
}
