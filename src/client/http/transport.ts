/** How a request to a server leaves this process; `transport.browser.ts` says it of a page. */
import { version } from '../../../package.json'
import { serverTrust } from './trust.ts'

export { connectionFault } from './certificates.ts'
export { localNow, noteServerDate, requireSameTime } from './server_clock.ts'

/** By which a server's operator knows which clients there are. */
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
