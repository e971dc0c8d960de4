/** Finds a request or proposal by its ID, or by a unique part of it. */
import { type ApprovalStatus, fetchApprovals } from '../../client/actions/approvals.ts'
import type { WorkspacePlace } from '../../client/workspace.ts'
import { isUuid } from '../../core/validation/validate.ts'
import { CliError } from '../terminal/cli_error.ts'

const SHORTEST = 4
/** IDs that fit a line. */
const MAX_SHOWN = 5

/**
 * The ID of a request. Parts are matched only against requests with these statuses. @throws CliError `not_found`,
 * `ambiguous_name`
 */
export async function requestNamed(
  place: WorkspacePlace,
  typed: string,
  statuses: readonly ApprovalStatus[] | null,
): Promise<string> {
  if (isUuid(typed)) return typed.toLowerCase()
  const ids = (await fetchApprovals(place, statuses)).map(({ id }) => id)
  return idNamed(ids, typed, { what: 'request', list: 'approvals list' })
}

type Kind = { what: 'request' | 'proposal'; list: string }

/** IDs begin with a time, so their ends differ more than their beginnings. @throws CliError */
export function idNamed(ids: readonly string[], typed: string, { what, list }: Kind): string {
  const text = typed.toLowerCase()
  const found = ids.filter((id) => id.startsWith(text) || id.endsWith(text))
  const [only, another] = found
  if (only !== undefined && another === undefined && text.length >= SHORTEST) return only
  const hint = `list them with: cloakroom ${list}`
  if (only === undefined) throw new CliError('not_found', `there is no ${what} ${typed}`, hint)
  const more = `give more characters of the ID, one of ${found.slice(0, MAX_SHOWN).join(', ')}`
  throw new CliError('ambiguous_name', `several ${what}s have ${typed} in their ID`, more)
}
