/** One connection from its plan to the root's JSON, with the person at a browser or a device. */
import { startCodeFlow } from '../../client/connect/code_flow.ts'
import { startDeviceFlow } from '../../client/connect/device_flow.ts'
import type { ConnectClient, ConnectPlan } from '../../client/connect/plan.ts'
import {
  ConnectFault,
  openProviderFetch,
  type ProviderFetch,
} from '../../client/connect/provider_fetch.ts'
import { serverTrust } from '../../client/http/trust.ts'
import type { OptionValues } from '../command.ts'
import type { Context } from '../context.ts'
import { openBrowser } from '../terminal/browser.ts'
import { CliError } from '../terminal/cli_error.ts'
import { durationOf } from '../terminal/moments.ts'
import type { flowOptions } from './connect_options.ts'
import { listenForRedirect, type RedirectListener } from './redirect.ts'

export type FlowOptions = OptionValues<typeof flowOptions>

/** The plan without the client, which may be registered with the redirect address. */
type Draft = Omit<ConnectPlan, 'client'> & {
  clientFor(redirectUri: string): Promise<ConnectClient>
}

export function providerFetchOf({ host }: Context): ProviderFetch {
  const send: ProviderFetch = (url, init) =>
    fetch(url, { ...init, ...serverTrust() } as RequestInit)
  return openProviderFetch(host.providerFetch ?? send)
}

/** Reports a failed connection to the person. @throws CliError */
export function throwNotConnected(error: unknown): never {
  throw error instanceof ConnectFault
    ? new CliError('connect_failed', error.message, error.fix)
    : error
}

/** @returns the root's JSON @throws CliError, ConnectFault */
export async function runFlow(
  context: Context,
  draft: Draft,
  options: FlowOptions,
  send: ProviderFetch,
): Promise<string> {
  const range = { option: '--wait', example: '5m', least: '1s', most: '1h' }
  const limitMs = durationOf(options.wait, range)
  const listener = await listenForRedirect(options.redirectUri)
  let root: string | null = null
  try {
    const { clientFor, ...rest } = draft
    const plan = { ...rest, client: await clientFor(listener.uri) }
    root = options.device
      ? await confirmDevice(context, plan, options, send)
      : await followRedirect(context, plan, listener, { ...options, limitMs }, send)
    return root
  } finally {
    await listener.close(root !== null)
  }
}

async function followRedirect(
  context: Context,
  plan: ConnectPlan,
  listener: RedirectListener,
  { browser, limitMs }: { browser: boolean | undefined; limitMs: number },
  send: ProviderFetch,
): Promise<string> {
  const flow = await startCodeFlow(plan, listener.uri, send)
  showAddress(context, flow.url, browser)
  return flow.finish(await listener.receive(limitMs))
}

async function confirmDevice(
  context: Context,
  plan: ConnectPlan,
  { browser }: FlowOptions,
  send: ProviderFetch,
): Promise<string> {
  const flow = await startDeviceFlow(plan, send)
  context.output.warn(`Enter the code ${flow.userCode} at ${flow.verificationUrl}`)
  if (browser !== false && flow.completeUrl !== null) openBrowser(context.host, flow.completeUrl)
  return flow.finish()
}

function showAddress({ host, output }: Context, url: string, browser: boolean | undefined): void {
  if (browser === false) {
    output.warn('Open this address in a browser:', url)
    return
  }
  output.note('Continue in your browser. If none opens, use this address:', url)
  openBrowser(host, url)
}
