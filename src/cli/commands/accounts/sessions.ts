/** `cloakroom sessions`: where an account is logged in, and ending that. */
import { listSessions, revokeSession } from '../../../features/accounts/contract.ts'
import type { endSessionOptions } from '../../catalogue/options.ts'
import type { Action } from '../../command.ts'
import { oneNamed } from '../../named.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { confirmed, counted } from '../../terminal/confirmed.ts'
import type { Column } from '../../terminal/table.ts'

export const list: Action = async (context) => {
  const { api } = await context.session()
  const sessions = await api.list(listSessions, {})
  const rows = sessions.map(({ current, ...session }) => ({
    ...session,
    here: current ? 'this one' : '',
  }))
  const columns: Column[] = [
    { field: 'id', whole: true },
    'here',
    'user_agent',
    'last_used_at',
    { field: 'created_at', optional: true },
    { field: 'expires_at', optional: true },
  ]
  context.output.table(rows, columns, sessions)
  return undefined
}

export const end: Action<typeof endSessionOptions> = async (context, ids, options) => {
  const { api } = await context.session()
  const sessions = await api.list(listSessions, {})
  const known = sessions.map((session) => ({ ...session, name: session.id }))
  const chosen = options.others
    ? known.filter(({ current }) => !current)
    : ids.map((id) => oneNamed(known, id, { what: 'session', list: 'sessions list' }))
  if (options.others ? ids.length > 0 : chosen.length === 0) {
    throw new CliError(
      'usage',
      'give ids of sessions, or --others',
      'list them with: cloakroom sessions list',
    )
  }
  if (chosen.some(({ current }) => current)) {
    throw new CliError(
      'usage',
      'that is the session of this machine',
      'end it with: cloakroom logout',
    )
  }
  if (chosen.length > 0)
    await confirmed(context.host, options, `End ${counted(chosen.length, 'session')}?`)
  for (const { id } of chosen) await api.call(revokeSession, { params: { session_id: id } })
  context.output.done(`${chosen.length} ended.`, { ended: chosen.map(({ id }) => id) })
  return undefined
}
