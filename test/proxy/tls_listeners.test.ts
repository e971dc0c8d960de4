// tier: quick
/** The listeners of intercepted hosts. */
import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import type { ProxyAuthority } from '../../src/proxy/authority.ts'
import type { Backend } from '../../src/proxy/backend.ts'
import { openTlsListeners } from '../../src/proxy/tls_listeners.ts'

const HOST = 'api.example'

test.each(['h2', 'https', 'http'] as const)(
  'concurrent clients share a listener (%s)',
  async (protocol) => {
    const leaf = await (await createAuthority('Test')).issue([HOST])
    const authority = { leafFor: async () => leaf } as unknown as ProxyAuthority
    const listeners = openTlsListeners(authority, {} as Backend)
    const open = () => listeners.socketFor(HOST, 443, protocol)
    const [path = '', ...others] = await Promise.all([open(), open(), open()])
    expect(others).toEqual([path, path])
    expect(await open()).toBe(path)
    const socket = connect(path)
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    socket.destroy()
    listeners.close()
  },
)
