/** The places of PostgreSQL in DB_HOST: one, or several with one primary at a time. */
import { isIP } from 'node:net'

export type Place = { host: string; port: number }

/**
 * A host, an address or the directory of a socket; or several of the first two, separated by commas, each with `:port`
 * (`[IPv6 address]:port`) where it is not the `usual` one. Null for any other text.
 */
export function placesOf(text: string, usual: number): Place[] | null {
  const parts = text.split(',').map((part) => part.trim())
  if (parts.length === 1)
    return text.startsWith('/') || isHost(text) ? [{ host: text, port: usual }] : null
  const places = parts.map((part) => placeOf(part, usual))
  return places.every((place) => place !== null) ? places : null
}

/** Whether all of them are this machine: by a socket, or by loopback. */
export function areOnThisMachine(text: string): boolean {
  const places = placesOf(text, 1) ?? []
  return places.every(({ host }) => /^\/|^localhost$|^127(\.\d+){3}$|^::1$/.test(host))
}

function isHost(text: string): boolean {
  return isIP(text) > 0 || /^[\w.-]+$/.test(text)
}

function placeOf(text: string, usual: number): Place | null {
  if (isHost(text)) return { host: text, port: usual }
  const [, bracketed, host = bracketed, digits] =
    /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  return host !== undefined && isHost(host) && port >= 1 && port <= 65_535 ? { host, port } : null
}
