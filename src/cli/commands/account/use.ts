import { accountNamed } from '../../accounts/choice.ts'
import { noteOverrides } from '../../accounts/entrance.ts'
import { bindFolder, useAccount } from '../../accounts/registry.ts'
import { command } from '../../command.ts'
import { globalFile, readGlobalFile, updateFile } from '../../settings.ts'

export default command({
  usage: 'use <account>',
  examples: ['account use work', 'account use work --here'],
  options: [['--here', 'use it only in this folder and its subfolders']],
  action: async (context, [typed], { here }) => {
    const account = accountNamed(await context.accounts.registry(), typed)
    const { name, server, email } = account
    if (here) {
      bindFolder(context.env, context.cwd, account)
      context.output.done(`${context.cwd} now uses ${name} (${email} at ${server}).`, {
        account: name,
        folder: context.cwd,
      })
      return
    }
    useAccount(context.env, account)
    const general = readGlobalFile(context.env).server
    if (general !== undefined && general !== server) updateFile(globalFile(context.env), { server })
    context.output.done(`Using ${name} (${email} at ${server}).`, { account: name })
    await noteOverrides(context, account)
  },
})
