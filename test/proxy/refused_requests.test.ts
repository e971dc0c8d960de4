// tier: all
/**
 * Every listener rejects the same methods and bodies with the same code, before a byte is sent, and keeps no record:
 * the request is rejected in step 1 (protocol 6), before any decision about a credential.
 */
import { afterAll, describe, expect, test } from 'bun:test'
import { forwardAs } from '../support/forward.ts'
import { sendRaw } from '../support/raw_http.ts'
import { until } from '../support/until.ts'
import { openProxyStage } from './stage.ts'

const stage = await openProxyStage()
afterAll(stage.stop)
const { agent, upstream } = stage
const local = await stage.open('local')
const remote = await stage.open('remote')

type Route = {
  origin: string
  path: string
  headers: string
  /** The component that stores the records of calls through this listener. */
  source: 'client' | 'resolver'
  /** A call that is not rejected. */
  call(path: string): Promise<Response>
}

const baseUrlOf = ({ baseUrl }: { baseUrl: string }, source: Route['source']): Route => ({
  origin: baseUrl,
  path: `${new URL(baseUrl).pathname}/${stage.authorityOf()}`,
  headers: '',
  source,
  call: (path) => fetch(`${baseUrl}/${stage.authorityOf()}${path}`),
})

const ROUTES: Record<string, Route> = {
  'forward mode': {
    origin: stage.app.resolver,
    path: `/v1/forward/${stage.authorityOf()}`,
    headers: `X-Service-Token: ${agent.token}\r\n`,
    source: 'resolver',
    call: (path) => forwardAs(stage, agent, path),
  },
  'the local proxy': baseUrlOf(local, 'client'),
  'the remote proxy': baseUrlOf(remote, 'resolver'),
}

const LENGTH = 'Content-Length: 1\r\n\r\nx'
const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n'
const REFUSED: [method: string, rest: string, status: number, code: string][] = [
  ...['TRACE', 'PROPFIND', 'MKCOL', 'LOCK'].map((method): [string, string, number, string] => [
    method,
    '\r\n',
    405,
    'method_not_allowed',
  ]),
  ...['GET', 'HEAD'].flatMap((method): [string, string, number, string][] => [
    [method, LENGTH, 422, 'validation_error'],
    [method, CHUNKED, 422, 'validation_error'],
  ]),
]

describe.each(Object.entries(ROUTES))('%s', (name, route) => {
  test.each(REFUSED)('%s followed by %j is rejected', async (method, rest, status, code) => {
    const sent = upstream.bytes
    const host = `Host: ${new URL(route.origin).host}\r\n`
    const head = `${method} ${route.path}/refused HTTP/1.1\r\n${host}${route.headers}`
    const answer = await sendRaw(route.origin, `${head}${rest}`, { waitsForAnswers: true })
    expect(answer.statuses[0]).toBe(status)
    if (method !== 'HEAD') expect(answer.text).toContain(`"error_code":"${code}"`)
    expect(upstream.bytes).toBe(sent)
  })

  test('the next call is recorded, and none of the rejected ones', async () => {
    const path = `/recorded-${name.replaceAll(' ', '-')}`
    expect((await route.call(path)).status).toBe(200)
    const records = await until(async () => {
      await stage.app.flushAudit()
      const all = await stage.records(route.source)
      return all.some((record) => record.target_path === path) && all
    })
    expect(records.filter((record) => record.target_path === '/refused')).toEqual([])
    expect(records.filter(({ method }) => method !== 'GET')).toEqual([])
  })
})
