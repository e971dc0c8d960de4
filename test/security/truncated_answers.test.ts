// tier: quick
/**
 * An answer that ends too early is a failure at every listener, however its connection ended, and an answer
 * without a proven end is marked (protocol 6.3).
 */
import { afterAll, describe, expect, test } from 'bun:test'
import type { TLSSocket } from 'node:tls'
import { openProxyStage } from '../proxy/stage.ts'
import { forwardAs, streamAs } from '../support/forward.ts'
import { answerOf, chunked } from '../support/upstream.ts'

const stage = await openProxyStage()
afterAll(stage.stop)
const { agent } = stage
const local = await stage.open('local')
const remote = await stage.open('remote')

type Outcome = { status: number; body: string; length: string | null } | 'failed'

const streaming = (send: (path: string) => Promise<Response>) => async (path: string) => {
  try {
    const answer = await send(path)
    const body = await answer.text()
    if (answer.status === 502) return 'failed' as const
    return { status: answer.status, body, length: answer.headers.get('x-service-length') }
  } catch {
    return 'failed' as const
  }
}
const through = ({ baseUrl }: { baseUrl: string }) =>
  streaming((path) => fetch(`${baseUrl}/${stage.authorityOf()}${path}`))

const ROUTES: Record<string, (path: string) => Promise<Outcome>> = {
  'POST /v1/resolve': async (path) => {
    const { status, body } = await agent.resolve({ target_url: stage.url(path) })
    if (status === 502) return 'failed'
    const answer = body as { status_code: number; body: string; length?: string }
    return { status: answer.status_code, body: answer.body, length: answer.length ?? null }
  },
  'a streamed POST /v1/resolve': streaming((path) =>
    streamAs(stage, agent, { target_url: stage.url(path) }),
  ),
  'forward mode': streaming((path) => forwardAs(stage, agent, path)),
  'the local proxy': through(local),
  'the remote proxy': through(remote),
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n'
const LONG = 'plain text, '.repeat(20_000)
const CUT: Record<string, (text: string) => string> = {
  'before its declared length': (text) =>
    `${HEAD}content-length: ${text.length + 1}\r\n\r\n${text}`,
  'within a chunk': (text) =>
    `${HEAD}transfer-encoding: chunked\r\n\r\n${(text.length + 1).toString(16)}\r\n${text}`,
  'before its last chunk': (text) =>
    `${HEAD}transfer-encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n`,
}
/** With the alert close_notify of TLS, and without. */
const ENDINGS: Record<string, (wire: TLSSocket) => void> = {
  closed: (wire) => void wire.end(),
  lost: (wire) => void wire.destroy(),
}
const cuts = Object.keys(CUT).flatMap((where) =>
  Object.keys(ENDINGS).flatMap((how) =>
    [
      ['short', 'begun'],
      ['long', LONG],
    ].map(([size = '', text = '']) => [size, where, how, text] as const),
  ),
)

describe.each(Object.entries(ROUTES))('through %s', (_, ask) => {
  test.each(cuts)('a %s answer that ends %s, its connection %s, fails', async (...given) => {
    const [, where, how, text] = given
    stage.upstream.on('/cut', (__, wire) => {
      wire.write(CUT[where]?.(text) ?? '', () => ENDINGS[how]?.(wire))
    })
    expect(await ask('/cut')).toBe('failed')
  })

  test('an answer that ends with its connection is marked as unproven', async () => {
    stage.upstream.on('/close', (__, wire) => void wire.end(`${HEAD}\r\nall of it`))
    expect(await ask('/close')).toEqual({ status: 200, body: 'all of it', length: 'unproven' })
  })

  test('an answer that ends with a lost connection fails or is marked as unproven', async () => {
    stage.upstream.on('/lost', (__, wire) => {
      wire.write(`${HEAD}\r\nall of it`, () => void wire.destroy())
    })
    const outcome = await ask('/lost')
    if (outcome !== 'failed') expect(outcome.length).toBe('unproven')
  })

  test('an answer with a length, with chunks or without a body is not marked', async () => {
    stage.upstream.on('/length', answerOf(200, { 'content-type': 'text/plain' }, 'all of it'))
    stage.upstream.on(
      '/chunks',
      `${HEAD}transfer-encoding: chunked\r\n\r\n${Buffer.from(chunked(['all of it']))}`,
    )
    stage.upstream.on('/none', 'HTTP/1.1 204 No Content\r\n\r\n')
    const outcomes = [await ask('/length'), await ask('/chunks'), await ask('/none')]
    expect(outcomes).toEqual([
      { status: 200, body: 'all of it', length: null },
      { status: 200, body: 'all of it', length: null },
      { status: 204, body: '', length: null },
    ])
  })
})
