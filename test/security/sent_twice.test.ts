// tier: quick
/**
 * A request that an API may have processed is not sent twice because its answer failed: no SDK is allowed, by any way
 * of calling, to repeat a POST or PATCH that was sent. Slow answers do not fail in the first place.
 */
import { afterAll, describe, expect, test } from 'bun:test'
import { outboundMethods } from '../../src/resolver/contract.ts'
import { openProxyStage } from '../proxy/stage.ts'
import { forwardAs, streamAs } from '../support/forward.ts'

const stage = await openProxyStage()
afterAll(stage.stop)
const short = { RESOLVER_SILENCE_MS: '150' }
const local = await stage.open('local', { networking: { ...stage.networking, ...short } })
const remote = await stage.open('remote')

type Call = (path: string, method: string) => Promise<Response>
const ms = { 'x-service-timeout-ms': '150' }
const overBase = (base: string, path: string, method: string) =>
  fetch(`${base}/${stage.authorityOf()}${path}`, { method })

const resolve =
  (stream: boolean): Call =>
  (path, method) =>
    streamAs(stage, stage.agent, { target_url: stage.url(path), method, timeout_ms: 150, stream })
const ways: [name: string, call: Call][] = [
  ['forward mode', (path, method) => forwardAs(stage, stage.agent, path, { method, headers: ms })],
  ['a call in JSON', resolve(false)],
  ['a streamed call in JSON', resolve(true)],
  ['the local proxy', (path, method) => overBase(local.baseUrl, path, method)],
]

describe.each(ways)('%s', (_, call) => {
  test.each(['/silent', '/cut', '/noise'])(
    '%s is answered without a retry for POST and PATCH',
    async (path) => {
      stage.upstream.on('/silent', () => {})
      stage.upstream.on('/cut', (_, wire) => void wire.destroy())
      stage.upstream.on('/noise', (_, wire) => void wire.end('no HTTP at all\r\n\r\n'))
      for (const method of ['POST', 'PATCH']) {
        const answer = await call(path, method)
        expect([answer.status >= 500, answer.headers.get('x-should-retry')]).toEqual([
          true,
          'false',
        ])
      }
    },
  )

  test('a repetition is left to the SDK if it does no harm, or if nothing was sent', async () => {
    stage.upstream.on('/silent', () => {})
    for (const method of outboundMethods.filter((one) => one !== 'POST' && one !== 'PATCH')) {
      const answer = await call('/silent', method)
      const { status } = answer
      expect([method, status, answer.headers.get('x-should-retry')]).toEqual([method, 504, null])
    }
  })
})

test("the remote proxy passes on the resolver's retry header, and sets it itself when the resolver is lost", async () => {
  stage.upstream.on('/cut', (_, wire) => void wire.destroy())
  const answer = await overBase(remote.baseUrl, '/cut', 'POST')
  expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([502, 'false'])
  const hangUp = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { data: (socket) => void socket.terminate() },
  })
  try {
    const lost = await stage.open('remote', { resolver: `http://127.0.0.1:${hangUp.port}` })
    const post = await overBase(lost.baseUrl, '/x', 'POST')
    const get = await overBase(lost.baseUrl, '/x', 'GET')
    expect([post.status, post.headers.get('x-should-retry')]).toEqual([503, 'false'])
    expect([get.status, get.headers.get('x-should-retry')]).toEqual([503, null])
  } finally {
    hangUp.stop(true)
  }
})
