/** One connection from its plan to the root's JSON, with the person at a browser or a device. */
import { rejectWhenAborted } from '../../core/async/timeout.ts'
import { startCodeFlow } from './code_flow.ts'
import { startDeviceFlow } from './device_flow.ts'
import type { ConnectClient, ConnectPlan } from './plan.ts'
import { ConnectFault, type ProviderFetch } from './provider_fetch.ts'
import { listenForRedirect, type RedirectListener } from './redirect_listener.ts'

/** The plan without the client, which may be registered with the redirect address. */
export type ConnectDraft = Omit<ConnectPlan, 'client'> & {
  clientFor(redirectUri: string): Promise<ConnectClient>
}

export type FlowOptions = {
  /** Registered at the provider; a free port and a random path unless given. */
  redirectUri?: string | undefined
  device?: boolean | undefined
  /** Milliseconds to wait for the browser. */
  limitMs: number
}

export type ConnectFlow = {
  /** For the person's browser; null if the provider has an address without the code only. */
  url: string | null
  device: { userCode: string; verificationUrl: string } | null
  /** The root's JSON. @throws ConnectFault */
  finished: Promise<string>
  cancel(): void
}

/** @throws ConnectFault */
export async function startFlow(
  { clientFor, ...rest }: ConnectDraft,
  options: FlowOptions,
  send: ProviderFetch,
): Promise<ConnectFlow> {
  const listener = listenForRedirect(options.redirectUri)
  try {
    const plan = { ...rest, client: await clientFor(listener.uri) }
    const ended = new AbortController()
    const { work, ...shown } = options.device
      ? await askDevice(plan, send, ended.signal)
      : await askBrowser(plan, listener, options.limitMs, send)
    const finished = finish(rejectWhenAborted(work, ended.signal, buildCancelledFault), listener)
    // A caller may await it later.
    finished.catch(() => {})
    return { ...shown, finished, cancel: () => ended.abort() }
  } catch (error) {
    await listener.close(false)
    throw error
  }
}

/** The browser sees how it ended. */
async function finish(work: Promise<string>, listener: RedirectListener): Promise<string> {
  let isConnected = false
  try {
    const root = await work
    isConnected = true
    return root
  } finally {
    await listener.close(isConnected)
  }
}

type Asked = Pick<ConnectFlow, 'url' | 'device'> & { work: Promise<string> }

async function askBrowser(
  plan: ConnectPlan,
  listener: RedirectListener,
  limitMs: number,
  send: ProviderFetch,
): Promise<Asked> {
  const { url, finish } = await startCodeFlow(plan, listener.uri, send)
  return { url, device: null, work: listener.receive(limitMs).then(finish) }
}

async function askDevice(
  plan: ConnectPlan,
  send: ProviderFetch,
  signal: AbortSignal,
): Promise<Asked> {
  const wait = (ms: number) => rejectWhenAborted(Bun.sleep(ms), signal, buildCancelledFault)
  const flow = await startDeviceFlow(plan, send, { now: Date.now, wait })
  const { userCode, verificationUrl, completeUrl } = flow
  return { url: completeUrl, device: { userCode, verificationUrl }, work: flow.finish() }
}

function buildCancelledFault(): ConnectFault {
  return new ConnectFault('cancelled', 'The connection was cancelled. Nothing was stored.')
}
