/** `cloakroom trust`: this user's yes to the addresses that the project file of a folder names. */
import { dirname } from 'node:path'
import { demandSafeAddress } from '../../addresses.ts'
import { command } from '../../command.ts'
import { addressNames, findProjectFile, readProjectFile } from '../../settings.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { openTrustedFolders } from '../../trust/trusted_folders.ts'

export default command({
  usage: 'trust',
  examples: ['trust', 'trust --remove'],
  options: [['--remove', 'stop trusting this folder']],
  action: async (context, _, { remove }) => {
    const path = findProjectFile(context.cwd)
    if (path === null) {
      throw new CliError(
        'not_found',
        'no project file in this folder',
        'create one with: cloakroom init',
      )
    }
    const folder = dirname(path)
    const trusted = openTrustedFolders(context.env)
    if (remove) {
      const wasThere = trusted.remove(folder)
      context.output.done(`${folder} ${wasThere ? 'is trusted no longer' : 'was not trusted'}.`, {
        folder,
        removed: wasThere,
      })
      return
    }
    const named = readProjectFile(path)
    for (const name of addressNames) {
      const { [name]: address } = named
      if (address !== undefined) demandSafeAddress(address, context.insecureHttp, `the ${name}`)
    }
    trusted.add(folder, named)
    context.output.record({ folder, server: named.server, resolver: named.resolver })
  },
})
