import { listSessions } from '../../../features/accounts/contract.ts'
import { command } from '../../command.ts'
import type { Column } from '../../terminal/table.ts'

export default command({
  usage: 'list',
  examples: ['sessions list'],
  action: async (context) => {
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
  },
})
