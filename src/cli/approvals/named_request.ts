/** Finding a request by what was typed: its ID, or a part of it that no other has. */
import { type ApprovalStatus, listedApprovals } from '../../client/actions/approvals.ts'
import type { WorkspacePlace } from '../../client/workspace.ts'
import { isUuid } from '../../core/validation/validate.ts'
import { CliError } from '../terminal/cli_error.ts'

const SHORTEST = 4
/** IDs that fit a line. */
const MAX_SHOWN = 5

/**
 * The ID. A part is looked for among requests of these statuses: IDs begin with a time, so their ends differ more than
 * their beginnings.
 *
 * @throws CliError `not_found`, `ambiguous_name`
 */
export async function requestNamed(
  place: WorkspacePlace,
  typed: string,
  statuses: readonly ApprovalStatus[] | null,
): Promise<string> {
  const text = typed.toLowerCase()
  if (isUuid(text)) return text
  const ids = (await listedApprovals(place, statuses)).map(({ id }) => id)
  const found = ids.filter((id) => id.startsWith(text) || id.endsWith(text))
  const [only, another] = found
  if (only !== undefined && another === undefined && text.length >= SHORTEST) return only
  const list = 'list them with: cloakroom approvals list'
  if (only === undefined) throw new CliError('not_found', `there is no request ${typed}`, list)
  const hint = `give more of the ID, one of ${found.slice(0, MAX_SHOWN).join(', ')}`
  throw new CliError('ambiguous_name', `several requests have ${typed} in their ID`, hint)
}
