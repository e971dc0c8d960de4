/** `cloakroom console`: the web console from this executable, for a server anywhere. */
import type { ProviderFetch } from '../../../client/connect/provider_fetch.ts'
import { NotBuilt } from '../../../console/build_on_demand.ts'
import { type LocalConsole, openLocalConsole } from '../../../console/local.ts'
import { command } from '../../command.ts'
import { providerFetchOf } from '../../connecting/run_flow.ts'
import { listenOrExplain, portFrom, waitUntilStopped } from '../../port.ts'
import { openBrowser } from '../../terminal/browser.ts'
import { CliError } from '../../terminal/cli_error.ts'

export default command({
  usage: 'console',
  examples: ['console', 'console --port 9000 --no-open'],
  options: [
    ['--port <number>', 'port on loopback; 0 for a free one', '8890'],
    ['--no-open', 'do not open a browser'],
  ],
  action: async (context, _, options) => {
    const server = await context.server()
    const port = portFrom(options.port)
    const { url, hash, close } = await listenOrExplain(port, () =>
      openBuilt(server, port, providerFetchOf(context)),
    )
    context.output.record({ url, server, sha256: hash }, url)
    if (options.open !== false && context.output.isTerminal) openBrowser(context.host, url)
    try {
      return await waitUntilStopped()
    } finally {
      await close()
    }
  },
})

async function openBuilt(server: string, port: number, send: ProviderFetch): Promise<LocalConsole> {
  try {
    return await openLocalConsole(server, port, send)
  } catch (error) {
    if (!(error instanceof NotBuilt)) throw error
    throw new CliError('failed', error.message, error.fix)
  }
}
