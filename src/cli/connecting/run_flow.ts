/** Runs a connection at a terminal, and shows the person where to go. */
import { type ConnectDraft, startFlow } from '../../client/connect/flow.ts'
import {
  type ConnectCode,
  ConnectFault,
  openProviderFetch,
  type ProviderFetch,
} from '../../client/connect/provider_fetch.ts'
import type { OptionValues } from '../command.ts'
import type { Context } from '../context.ts'
import { openBrowser } from '../terminal/browser.ts'
import { CliError } from '../terminal/cli_error.ts'
import { durationOf } from '../terminal/moments.ts'
import type { flowOptions } from './connect_options.ts'

type TerminalOptions = OptionValues<typeof flowOptions>

export function providerFetchOf({ host }: Pick<Context, 'host'>): ProviderFetch {
  return openProviderFetch(host.providerFetch)
}

/** Faults of the arguments. */
const USAGE: readonly ConnectCode[] = [
  'client_missing',
  'hosts_missing',
  'provider_missing',
  'redirect_refused',
  'unknown_provider',
]

/** Reports a failed connection to the person. @throws CliError */
export function throwNotConnected(error: unknown): never {
  if (!(error instanceof ConnectFault)) throw error
  const { code, message, fix } = error
  if (code === 'port_taken') throw new CliError('port_taken', message, fix)
  throw new CliError(USAGE.includes(code) ? 'usage' : 'connect_failed', message, fix)
}

/** @returns the root's JSON @throws CliError, ConnectFault */
export async function runFlow(
  context: Context,
  draft: ConnectDraft,
  { redirectUri, device, browser, wait }: TerminalOptions,
  send: ProviderFetch,
): Promise<string> {
  const range = { option: '--wait', example: '5m', least: '1s', most: '1h' }
  const limitMs = durationOf(wait, range)
  const flow = await startFlow(draft, { redirectUri, device, limitMs }, send)
  if (flow.device === null) {
    showAddress(context, flow.url ?? '', browser)
  } else {
    const { userCode, verificationUrl } = flow.device
    context.output.warn(`Enter the code ${userCode} at ${verificationUrl}`)
    if (browser !== false && flow.url !== null) openBrowser(context.host, flow.url)
  }
  return flow.finished
}

function showAddress({ host, output }: Context, url: string, browser: boolean | undefined): void {
  if (browser === false) {
    output.warn('Open this address in a browser:', url)
    return
  }
  output.note('Continue in your browser. If none opens, use this address:', url)
  openBrowser(host, url)
}
