/** Sends requests to a server; `transport.browser.ts` does it for a page. */
import { version } from '../../../package.json'
import { serverTrust } from './trust.ts'

export { connectionFault } from './certificates.ts'
export { noteServerDate, readLocalTime, requireSameTime } from './server_clock.ts'

/** Identifies the client to the server's operator. */
const USER_AGENT = `cloakroom/${version}`

export function asSent(init: RequestInit): RequestInit {
  return {
    ...init,
    ...serverTrust(),
    headers: { ...init.headers, 'accept-encoding': 'identity', 'user-agent': USER_AGENT },
    // A compressed response could expand without bounds.
    decompress: false,
  } as BunFetchRequestInit
}
