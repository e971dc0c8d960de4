/** `cloakroom account`: the accounts of this machine, side by side. */
import { accountNamed, type Choice } from '../../accounts/choice.ts'
import { bindFolder, forgetAccount, useAccount } from '../../accounts/registry.ts'
import type { confirmOptions, useAccountOptions } from '../../catalogue/options.ts'
import type { Action } from '../../command.ts'
import type { Context } from '../../context.ts'
import { globalFile, readGlobalFile, updateFile } from '../../settings.ts'
import { confirmed } from '../../terminal/confirmed.ts'
import type { Column } from '../../terminal/table.ts'
import { tellExceptions } from './entrance.ts'
import { endSession, tellWiped } from './exit.ts'

export const list: Action = async (context) => {
  const { all } = await context.accounts.registry()
  const chosen = await chosenHere(context)
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
  return undefined
}

/** Null where a command would ask for a choice. */
function chosenHere({ accounts, settings }: Context): Promise<Choice | null> {
  return accounts.chosen(settings.server?.value ?? '').catch(() => null)
}

export const use: Action<typeof useAccountOptions> = async (context, [typed = ''], { here }) => {
  const account = accountNamed(await context.accounts.registry(), typed)
  const { name, server, email } = account
  if (here) {
    bindFolder(context.env, context.cwd, account)
    context.output.done(`${context.cwd} works with ${name} (${email} at ${server}) from now on.`, {
      account: name,
      folder: context.cwd,
    })
    return undefined
  }
  useAccount(context.env, account)
  const general = readGlobalFile(context.env).server
  if (general !== undefined && general !== server) updateFile(globalFile(context.env), { server })
  context.output.done(`Using ${name} (${email} at ${server}).`, { account: name })
  await tellExceptions(context, account)
  return undefined
}

export const remove: Action<typeof confirmOptions> = async (context, [typed = ''], options) => {
  const account = accountNamed(await context.accounts.registry(), typed)
  const { name, email, server } = account
  await confirmed(
    context.host,
    options,
    `Log out ${email} at ${server}, and forget which folders are theirs?`,
  )
  const wiped = await endSession(context, account)
  forgetAccount(context.env, account)
  context.output.done(`${name} is no longer on this machine.`, { removed: name })
  tellWiped(context, wiped)
  return undefined
}
