import { endSession, noteWiped, type Wiped } from '../../accounts/exit.ts'
import { type Account, FIRST_SLOT, readRegistry } from '../../accounts/registry.ts'
import { command } from '../../command.ts'
import { forgetNames } from '../../completion/names.ts'
import type { Context } from '../../context.ts'

/** Removes the session on this machine even if the server is unreachable. */
export default command({
  usage: 'logout',
  examples: ['logout', 'logout --account work', 'logout --all'],
  options: [['--all', 'sign out all accounts on this machine']],
  action: async (context, _, { all }) => {
    const gone = all ? await listAllAccounts(context) : await requireOneAccount(context)
    const wiped: Wiped[] = []
    for (const account of gone) wiped.push(await endSession(context, account))
    if (gone.length === 0) await (await context.accounts.store(FIRST_SLOT)).clear()
    forgetNames(context.env)
    const [email = null] = gone.map((account) => account.email)
    const emails = gone.map((account) => account.email)
    const tokens = wiped.flatMap(({ tokens }) => tokens)
    const own = wiped.flatMap(({ own }) => own)
    context.output.done('Signed out.', {
      logged_out: all ? emails : email,
      tokens,
      own_values: own,
    })
    noteWiped(context, { tokens, own })
    noteRemaining(context)
  },
})

function noteRemaining({ env, output }: Context): void {
  const names = readRegistry(env).all.map(({ name }) => name)
  if (names.length > 0) output.note(`Still signed in: ${names.join(', ')}.`)
}

/** An old session that cannot be decrypted is deleted. */
async function listAllAccounts({ accounts, env }: Context): Promise<readonly Account[]> {
  const known = await accounts.registry().catch(() => readRegistry(env))
  return known.all
}

/** @throws CliError if the account is ambiguous */
async function requireOneAccount(context: Context): Promise<readonly Account[]> {
  const all = await listAllAccounts(context)
  if (all.length === 0 || (all.length === 1 && !(await context.accounts.named()))) return all
  return [(await context.accounts.chosen(await context.server())).account]
}
