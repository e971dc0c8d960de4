import type { Choice } from '../../accounts/choice.ts'
import { command } from '../../command.ts'
import type { Context } from '../../context.ts'
import type { Column } from '../../terminal/table.ts'

export default command({
  usage: 'list',
  examples: ['account list', 'account list --json'],
  action: async (context) => {
    const { all } = await context.accounts.registry()
    const chosen = await findChoiceHere(context)
    const rows = all.map(({ name, server, email, slot }) => ({
      account: name,
      email,
      server,
      used: slot === chosen?.account.slot ? `here: ${chosen.why}` : '',
    }))
    const columns: Column[] = [{ field: 'account', whole: true }, 'server', 'email', 'used']
    const data = all.map(({ slot, ...account }) => {
      const isChosen = slot === chosen?.account.slot
      return { ...account, used: isChosen, because: isChosen ? chosen.why : null }
    })
    context.output.table(rows, columns, data)
  },
})

/** Null where a command would ask for a choice. */
function findChoiceHere({ accounts, settings }: Context): Promise<Choice | null> {
  return accounts.chosen(settings.server?.value ?? '').catch(() => null)
}
