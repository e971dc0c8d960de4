/** How a program on this machine reaches the own listeners: an address, and an accepted host name. */
import { hostCheck } from '../net/host.ts'
import type { Config } from './config.ts'

/** A listener on all addresses is reached on loopback. An IPv6 address is in brackets. */
export function toDialedAddress(host: string): string {
  const address = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  if (address === '0.0.0.0') return '127.0.0.1'
  return address === '[::]' ? '[::1]' : address
}

/** The address itself where ALLOWED_HOSTS has it, which it need not; else the first name there. */
export function hostToAsk(
  { ALLOWED_HOSTS }: Pick<Config, 'ALLOWED_HOSTS'>,
  address: string,
): string {
  try {
    hostCheck(ALLOWED_HOSTS)(address)
    return address
  } catch {
    return ALLOWED_HOSTS[0]?.replace(/^\./, '') ?? address
  }
}
