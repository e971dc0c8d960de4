// tier: quick
/** Reading a ClientHello: right for real ones, and harmless for everything else. */
import { describe, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { connect } from 'node:tls'
import fc from 'fast-check'
import { readOfferedProtocols } from '../../src/proxy/client_hello.ts'

/** The first bytes that a TLS client sends. */
async function helloOf(protocols: string[]): Promise<Uint8Array> {
  const { promise, resolve } = Promise.withResolvers<Uint8Array>()
  const server = createServer((socket) => {
    socket.once('data', (bytes: Buffer) => {
      resolve(new Uint8Array(bytes))
      socket.destroy()
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const client = connect({ host: '127.0.0.1', port, ALPNProtocols: protocols })
  client.on('error', () => {})
  const bytes = await promise
  client.destroy()
  server.close()
  return bytes
}

const hello = await helloOf(['h2', 'http/1.1'])

describe('a ClientHello', () => {
  test.each([[['h2', 'http/1.1']], [['h2']], [['http/1.1']], [[]]])(
    'a ClientHello offers %j',
    async (offered) => {
      expect(readOfferedProtocols(await helloOf(offered))).toEqual(offered)
    },
  )

  test('a ClientHello is awaited while bytes are missing', () => {
    for (let length = 0; length < hello.length; length++) {
      expect(readOfferedProtocols(hello.subarray(0, length))).toBeNull()
    }
  })

  test('a damaged ClientHello is read without harm', () => {
    const places = fc.array(fc.tuple(fc.nat(hello.length - 1), fc.nat(255)), { maxLength: 8 })
    fc.assert(
      fc.property(places, (changes) => {
        const damaged = Uint8Array.from(hello)
        for (const [at, byte] of changes) damaged[at] = byte
        const read = readOfferedProtocols(damaged)
        return read === null || Array.isArray(read)
      }),
    )
  })
})

test('bytes that are not TLS offer no protocol, from the first byte on', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
      fc.pre(bytes[0] !== 22)
      expect(readOfferedProtocols(bytes)).toEqual([])
    }),
  )
})
