/** Requests to a provider, and what went wrong with a connection. */
import { concat } from '../../core/crypto/encoding.ts'
import { serverTrust } from '../http/trust.ts'

/** A request in the form that `oauth4webapi` uses. */
type ProviderInit = {
  method?: string
  headers?: HeadersInit
  body?: BodyInit | null | undefined
  redirect?: RequestRedirect
  signal?: AbortSignal | undefined
}
export type ProviderFetch = (url: string, init?: ProviderInit) => Promise<Response>

/** Why a connection was not made; the console has a text for each. */
export type ConnectCode =
  | 'access_denied'
  | 'address_refused'
  | 'answer_refused'
  | 'cancelled'
  | 'client_missing'
  | 'code_missing'
  | 'endpoint_missing'
  | 'hosts_missing'
  | 'metadata_differs'
  | 'metadata_missing'
  | 'other_flow'
  | 'pkce_missing'
  | 'port_taken'
  | 'provider_missing'
  | 'redirect_refused'
  | 'refresh_token_missing'
  | 'registration_missing'
  | 'registration_refused'
  | 'request_refused'
  | 'timed_out'
  | 'token_refused'
  | 'too_many'
  | 'unknown_provider'
  | 'unreachable'

/** A failed connection. Nothing was stored, and the message contains no text from the provider. */
export class ConnectFault extends Error {
  readonly code: ConnectCode
  readonly fix: string | null

  constructor(code: ConnectCode, message: string, fix: string | null = null, cause?: unknown) {
    super(message, { cause })
    this.name = 'ConnectFault'
    this.code = code
    this.fix = fix
  }
}

const fetchTrusted: ProviderFetch = (url, init) =>
  fetch(url, { ...init, ...serverTrust() } as RequestInit)

const TIMEOUT_MS = 10_000
const MAX_BYTES = 1_048_576

/** Requests over https only, without redirects, for 10 s and 1 MiB each. */
export function openProviderFetch(send: ProviderFetch = fetchTrusted): ProviderFetch {
  return async (address, init) => {
    const { protocol, host } = requireHttps(address)
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    try {
      const response = await send(address, { ...init, redirect: 'manual', signal })
      const { status, headers } = response
      const body = await readBounded(response)
      // Constructors refuse a body for these.
      return new Response([204, 205, 304].includes(status) ? null : body, { status, headers })
    } catch (error) {
      const why = signal.aborted ? 'did not respond within 10 seconds' : 'could not be reached'
      if (error instanceof ConnectFault) throw error
      throw new ConnectFault(
        'unreachable',
        `${protocol}//${host} ${why}.`,
        'Check the address and retry.',
        error,
      )
    }
  }
}

/** @throws ConnectFault */
export function requireHttps(address: string): URL {
  const url = URL.parse(address)
  if (url === null)
    throw new ConnectFault('address_refused', 'The provider has an address that is not a URL.')
  if (url.protocol === 'https:' && url.username === '' && url.password === '') return url
  throw new ConnectFault('address_refused', `${url.protocol}//${url.host} is not an https address.`)
}

async function readBounded(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.length
    if (size > MAX_BYTES)
      throw new ConnectFault('answer_refused', 'The provider returned more than 1 MiB.')
    pieces.push(piece)
  }
  return concat(...pieces)
}
