/**
 * The authorities that connections to servers trust besides the usual ones. A process has one set, except where several
 * commands run in one process: then each has its own. It is part of the asynchronous context, because the layers
 * between a command and `fetch` do not handle certificates.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

/** The runtime would follow NODE_TLS_REJECT_UNAUTHORIZED=0 of the environment. */
const VERIFIED = { rejectUnauthorized: true }

export type CertificateTrust = { tls: typeof VERIFIED & { ca?: string[] } }

type Scope = { trust: CertificateTrust }

const ofProcess: Scope = { trust: { tls: VERIFIED } }
const scopes = new AsyncLocalStorage<Scope>()

/** Runs `work` with the usual authorities; authorities that it adds hold within it only. */
export function withSeparateTrust<T>(work: () => Promise<T>): Promise<T> {
  return scopes.run({ trust: { tls: VERIFIED } }, work)
}

/** From now on, for this process or, inside `withSeparateTrust`, for that work. */
export function setAuthorities(ca: string[]): void {
  const scope = scopes.getStore() ?? ofProcess
  scope.trust = { tls: { ...VERIFIED, ca } }
}

/** The TLS options of `fetch` and `WebSocket` for a server. */
export function serverTrust(): CertificateTrust {
  return (scopes.getStore() ?? ofProcess).trust
}
