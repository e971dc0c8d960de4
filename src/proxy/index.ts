/**
 * The local proxy: local programs send requests with the names of credentials, and the proxy inserts the values.
 * docs/guides/proxy.md describes its protection, and its limits.
 */
import { randomBytes } from 'node:crypto'
import { openAuthority } from './authority.ts'
import type { Backend } from './backend.ts'
import { baseUrlHandler } from './base_url.ts'
import { openConnectListener } from './connect_listener.ts'
import { openTlsListeners } from './tls_listeners.ts'

export type LocalProxy = {
  port: number
  /** The value of HTTPS_PROXY. Anyone who knows it may use the proxy. */
  url: string
  /** Before `/{host}/{path}`, for programs that take a base URL. */
  baseUrl: string
  /** PEM of the authority. */
  certificate: string
  close(): Promise<void>
}

type Options = {
  backend: Backend
  /** The authority's folder. */
  directory: string
  /** 0 picks a free one. */
  port: number
  /** Refuses hosts that are not on the allowlist, instead of passing them unchanged. */
  strict: boolean
}

const PASSWORD_BYTES = 24

/** The backend is the proxy's from here on. @throws Error when port or directory cannot be used */
export async function openProxy(options: Options): Promise<LocalProxy> {
  try {
    return await open(options)
  } catch (error) {
    await options.backend.close()
    throw error
  }
}

async function open({ backend, directory, port, strict }: Options): Promise<LocalProxy> {
  const authority = await openAuthority(directory)
  const password = randomBytes(PASSWORD_BYTES).toString('base64url')
  const listeners = openTlsListeners(authority, backend)
  const own = { port: 0 }
  const path = listeners.unencrypted(
    baseUrlHandler({ password, strict, backend, port: () => own.port }),
  )
  const parts = { port, password, strict, backend, listeners, httpPath: () => path }
  const listener = await openConnectListener(parts).catch((error) => {
    listeners.close()
    throw error
  })
  own.port = listener.port
  return {
    port: listener.port,
    url: `http://cloakroom:${password}@127.0.0.1:${listener.port}`,
    baseUrl: `http://127.0.0.1:${listener.port}/${password}`,
    certificate: authority.certificate,
    close: async () => {
      await listener.close()
      listeners.close()
      await backend.close()
    },
  }
}
