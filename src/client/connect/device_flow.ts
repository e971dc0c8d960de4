/** The device flow (RFC 8628): the person confirms a code on any device while this one polls. */
import type { DeviceAuthorizationResponse } from 'oauth4webapi'
import { readUtf8 } from '../../core/crypto/encoding.ts'
import { buildRequest } from '../../derivation/derivation.ts'
import { type ConnectPlan, planRoot, requestRoot, TokenRefusal } from './plan.ts'
import { ConnectFault, type ProviderFetch, requireHttps } from './provider_fetch.ts'

export type DeviceFlow = {
  userCode: string
  verificationUrl: string
  /** Has the code in it, for a browser on this machine. */
  completeUrl: string | null
  /** Polls until the person decides. @returns the root's JSON @throws ConnectFault */
  finish(): Promise<string>
}

/** RFC 8628, sections 3.2 and 3.5. */
const INTERVAL_S = 5
const SLOW_DOWN_S = 5
const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

type DeviceClock = { now(): number; wait(ms: number): Promise<void> }

export async function startDeviceFlow(
  plan: ConnectPlan,
  send: ProviderFetch,
  clock: DeviceClock,
): Promise<DeviceFlow> {
  const started = await requestUserCode(plan, send)
  const completeUrl = started.verification_uri_complete ?? null
  for (const url of [started.verification_uri, completeUrl]) if (url !== null) requireHttps(url)
  const endsAt = clock.now() + started.expires_in * 1000
  return {
    userCode: started.user_code,
    verificationUrl: started.verification_uri,
    completeUrl,
    finish: () => poll(plan, started, endsAt, send, clock),
  }
}

async function requestUserCode(
  plan: ConnectPlan,
  send: ProviderFetch,
): Promise<DeviceAuthorizationResponse> {
  const oauth = await import('oauth4webapi')
  const { endpoints, client, scope } = plan
  const { server, resource } = endpoints
  if (server.device_authorization_endpoint === undefined) {
    throw new ConnectFault('endpoint_missing', 'The provider has no device flow.', 'Omit --device.')
  }
  const parameters = new URLSearchParams({
    ...(scope !== undefined && { scope }),
    ...(resource !== undefined && { resource }),
  })
  const { client_id } = client
  try {
    const response = await oauth.deviceAuthorizationRequest(
      server,
      { client_id },
      (_, __, body, headers) => authenticate(plan, body, headers),
      parameters,
      { [oauth.customFetch]: send },
    )
    return await oauth.processDeviceAuthorizationResponse(server, { client_id }, response)
  } catch (error) {
    if (error instanceof ConnectFault) throw error
    const message = 'The provider refused to start the device flow.'
    throw new ConnectFault(
      'request_refused',
      message,
      'Allow it in the settings of the client, or omit --device.',
      error,
    )
  }
}

/** As the token request will do it, so that there is one encoding of Basic. */
async function authenticate(
  plan: ConnectPlan,
  body: URLSearchParams,
  headers: Headers,
): Promise<void> {
  const request = await buildRequest(planRoot(plan), null, Date.now())
  const basic = request.headers.find(([name]) => name.toLowerCase() === 'authorization')
  if (basic) headers.set('authorization', basic[1])
  for (const [name, value] of new URLSearchParams(readUtf8(request.body))) {
    if (name.startsWith('client_')) body.set(name, value)
  }
}

/** Seconds by which the next poll waits longer. @throws what is not a request to poll again */
function readAddedWait(error: unknown): number {
  const code = error instanceof TokenRefusal ? error.error : null
  if (code === 'slow_down') return SLOW_DOWN_S
  if (code === 'authorization_pending') return 0
  throw error
}

async function poll(
  plan: ConnectPlan,
  { device_code, interval }: DeviceAuthorizationResponse,
  endsAt: number,
  send: ProviderFetch,
  clock: DeviceClock,
): Promise<string> {
  let waitS = interval ?? INTERVAL_S
  while (clock.now() + waitS * 1000 < endsAt) {
    await clock.wait(waitS * 1000)
    try {
      return await requestRoot(plan, { grant_type: GRANT, device_code }, send)
    } catch (error) {
      waitS += readAddedWait(error)
    }
  }
  throw new ConnectFault(
    'timed_out',
    'The code expired before it was confirmed.',
    'Run the command again.',
  )
}
