// tier: all
/** An upstream that pauses in a stream on the real clock; in a long run, for longer than the runtime's timeout. */
import { afterAll, expect } from 'bun:test'
import { effort } from '../support/effort.ts'
import { requires } from '../support/requires.ts'
import { openProxyStage, runWith } from './stage.ts'

const { test } = requires('curl')
const RUNTIME_MS = 10_000

const stage = await openProxyStage()
afterAll(stage.stop)

test('a stream that is silent for a long time is not interrupted', async () => {
  stage.upstream.on('/silent', (_, wire) => {
    const headers = 'Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n'
    wire.write(`HTTP/1.1 200 OK\r\n${headers}\r\n9\r\ndata: 1\n\n\r\n`)
    const more = () => wire.write('9\r\ndata: 2\n\n\r\n0\r\n\r\n')
    setTimeout(more, effort(100, RUNTIME_MS + 5000))
  })
  const proxy = await stage.open('local')
  const ways = [stage.url('/silent'), `${proxy.baseUrl}/${stage.authorityOf()}/silent`]
  const runs = ways.map((url) => runWith(proxy, ['curl', '-sSN', url]))
  const whole = { code: 0, out: 'data: 1\n\ndata: 2\n\n', err: '' }
  expect(await Promise.all(runs)).toEqual([whole, whole])
})
