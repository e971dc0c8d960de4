import { listSessions, revokeSession } from '../../../features/accounts/contract.ts'
import { command } from '../../command.ts'
import { requireItem } from '../../named.ts'
import { yes } from '../../options.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { formatCount, requireConfirmation } from '../../terminal/confirmed.ts'

export default command({
  usage: 'end [ids...]',
  examples: ['sessions end 01a1f3c8-3a6e-7a54-bd5c-0e2f9c6b7d10', 'sessions end --others --yes'],
  options: [['--others', 'end all sessions except this one'], yes],
  action: async (context, ids, options) => {
    const { api } = await context.session()
    const sessions = await api.list(listSessions, {})
    const known = sessions.map((session) => ({ ...session, name: session.id }))
    const chosen = options.others
      ? known.filter(({ current }) => !current)
      : ids.map((id) => requireItem(known, id, { what: 'session', list: 'sessions list' }))
    if (options.others ? ids.length > 0 : chosen.length === 0) {
      throw new CliError(
        'usage',
        'give session IDs or --others',
        'list them with: cloakroom sessions list',
      )
    }
    if (chosen.some(({ current }) => current)) {
      throw new CliError(
        'usage',
        'this is the session of this machine',
        'end it with: cloakroom logout',
      )
    }
    if (chosen.length > 0)
      await requireConfirmation(
        context.host,
        options,
        `End ${formatCount(chosen.length, 'session')}?`,
      )
    for (const { id } of chosen) await api.call(revokeSession, { params: { session_id: id } })
    context.output.done(`${chosen.length} ended.`, { ended: chosen.map(({ id }) => id) })
  },
})
