/**
 * `cloakroom echo`: an API on this machine to try calls with. Its certificate is made at the start, and its
 * key is never written down. Three settings make a resolver reach and trust the API; a server that is started
 * behind `--` gets them, and logs only warnings, because the requests are printed on the same terminal.
 */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { shellWord } from '../../../client/agents/shell_word.ts'
import { printableJson } from '../../../core/printable.ts'
import { command } from '../../command.ts'
import type { Context } from '../../context.ts'
import { createAuthority } from '../../demo/certificates.ts'
import { ECHO_HOST, type Shown, startEchoApi } from '../../demo/echo_api.ts'
import { replaceFile } from '../../files/replace.ts'
import { readInherited } from '../../inherited.ts'
import { listenOrExplain, portFrom, waitUntilStopped } from '../../port.ts'
import { configDirectory } from '../../settings.ts'
import { runChild } from '../../terminal/child.ts'
import { CliError } from '../../terminal/cli_error.ts'

export default command({
  usage: 'echo [command...]',
  examples: ['echo -- cloakroom serve', 'echo', 'echo --port 9443'],
  options: [['--port <number>', 'port on 127.0.0.1; 0 for a free one', '8443']],
  passThrough: true,
  action: async (context, command, options) => {
    const wanted = portFrom(options.port)
    const authority = await createAuthority('Cloakroom echo')
    const show = (request: Shown) => print(context, request)
    const api = await listenOrExplain(wanted, () => startEchoApi(authority, { port: wanted, show }))
    const certificateFile = join(configDirectory(context.env), `echo-${api.port}.pem`)
    try {
      const settings = settingsFor(context, certificateFile)
      replaceFile(certificateFile, authority.certificate)
      announce(context, api.port, settings, command.length > 0)
      if (command.length === 0) return await waitUntilStopped()
      return await runChild(context.host, command, {
        env: { LOG_LEVEL: 'warning', ...readInherited(context.env), ...settings },
        masked: {},
      })
    } finally {
      rmSync(certificateFile, { force: true })
      await api.stop()
    }
  },
})

/** The settings by which a resolver finds the API and trusts its certificate. @throws CliError */
function settingsFor({ env }: Context, certificateFile: string): Record<string, string> {
  const settings = {
    RESOLVER_HOSTS: `${ECHO_HOST}=127.0.0.1`,
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
    RESOLVER_CA_FILE: certificateFile,
  }
  const taken = Object.keys(settings).filter((name) => env[name])
  if (taken.length === 0) return settings
  throw new CliError(
    'usage',
    `${taken.join(', ')} is set, and echo would replace it`,
    `start it without: ${taken.map((name) => `env -u ${name} `).join('')}cloakroom echo`,
  )
}

function announce(
  { output }: Context,
  port: number,
  settings: Record<string, string>,
  hasCommand: boolean,
): void {
  const url = `https://${ECHO_HOST}:${port}`
  if (output.isJson) {
    output.raw(`${JSON.stringify({ url, allow: `${ECHO_HOST}:${port}`, settings })}\n`)
    return
  }
  output.warn(`The echo API listens at ${url} and prints each request here.`)
  if (hasCommand) return
  const words = Object.entries(settings).map(([name, value]) => `${name}=${shellWord(value)}`)
  output.warn('In another terminal, start a server that reaches and trusts it:')
  output.raw(`${words.join(' ')} cloakroom serve\n`)
  output.warn('Stop: Ctrl-C')
}

function print({ output }: Context, { method, path, headers, bytes }: Shown): void {
  if (output.isJson) {
    output.raw(`${printableJson({ method, path, headers, bytes })}\n`)
    return
  }
  const width = Math.max(...Object.keys(headers).map((name) => name.length))
  const lines = Object.entries(headers).map(([name, value]) => `  ${name.padEnd(width)}  ${value}`)
  output.say(`${method} ${path} (${bytes} bytes)`, ...lines)
}
