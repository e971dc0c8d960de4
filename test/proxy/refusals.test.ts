// tier: all
/**
 * A rejected call leaves the same record by every route: through the resolver, its forward mode, or the local proxy.
 * No part of a query is in it, nor on the disk where the proxy's records wait.
 */
import { afterAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { forwardAs } from '../support/forward.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'
import { KEY, openProxyStage, type Recorded, runWith } from './stage.ts'

const stage = await openProxyStage()
afterAll(stage.stop)
const { agent } = stage
await agent.store('GET_ONLY', 'value of GET_ONLY', { policy: { allowed_methods: ['GET'] } })
await agent.store('IN_PATH', 'value-of-IN_PATH', {
  policy: { allowed_locations: ['path', 'query'], allowed_methods: ['GET'] },
})
await agent.store('BROKEN', 'two\nlines')
await agent.store('COMPOSED', `value of \${BROKEN}`, { policy: { references: true } })
const proxy = await stage.open('local', { auditDirectory: join(stage.directory, 'waiting') })

const TYPED = 'typed-by-the-caller'
const query = `?token=${TYPED}&key=${encodeURIComponent(KEY)}#${TYPED}`

type Case = { method: string; headers: Record<string, string>; host?: string }
const bearer = (name: string) => ({ authorization: `Bearer SVC_SECRET_${name}` })
const cases: [string, string, Case][] = [
  ['unknown_secret', '/unknown', { method: 'GET', headers: bearer('NO_SUCH') }],
  ['policy_blocked', '/blocked', { method: 'POST', headers: bearer('GET_ONLY') }],
  ['policy_blocked', '/SVC_SECRET_IN_PATH/x', { method: 'POST', headers: {} }],
  ['unusable_secret', '/unusable', { method: 'GET', headers: bearer('BROKEN') }],
  ['unresolved_reference', '/composed', { method: 'GET', headers: bearer('COMPOSED') }],
  ['invalid_header', '/header', { method: 'GET', headers: { 'x-key': 'SVC_SECRET_' } }],
  ['forbidden_header', '/range', { method: 'DELETE', headers: { range: 'bytes=0-1' } }],
  ['domain_blocked', '/domain', { method: 'GET', headers: {}, host: 'other.example:99' }],
  ['upstream_unreachable', '/gone', { method: 'GET', headers: {}, host: 'gone.example:1' }],
]
await agent.allow('gone.example:1')

test.each(cases)('%s on %s is recorded alike by all ways', async (reason, path, init) => {
  const { host = stage.authorityOf(), ...request } = init
  const text = `${path}${query}`
  await agent.resolve({ target_url: `https://${host}${text}`, ...request })
  await forwardAs({ ...stage, authorityOf: () => host }, agent, text, request)
  await fetch(`${proxy.baseUrl}/${host}${text}`, request)
  const [resolved, forwarded] = await recordsOn('resolver', path, 2)
  const [local] = await recordsOn('client', path, 1)
  expect(resolved).toMatchObject({ reason, target_url: `https://${host}${path}` })
  expect(forwarded).toEqual(resolved)
  expect(local).toEqual(resolved)
})

requires('curl').test('a refusal through HTTPS_PROXY is recorded', async () => {
  const headers = ['-H', 'Authorization: Bearer SVC_SECRET_NO_SUCH']
  await runWith(proxy, ['curl', '-sS', ...headers, stage.url(`/curl${query}`)])
  const [local] = await recordsOn('client', '/curl', 1)
  expect(local).toMatchObject({
    reason: 'unknown_secret',
    target_url: `https://${stage.authorityOf()}/curl`,
  })
})

test('no part of a query is in any record, sent or waiting', async () => {
  const sent = [...(await stage.records('client')), ...(await stage.records('resolver'))]
  const directory = join(stage.directory, 'waiting')
  const waiting = readdirSync(directory).map((name) =>
    readFileSync(join(directory, name), 'latin1'),
  )
  expect(waiting.length).toBeGreaterThan(0)
  for (const text of [JSON.stringify(sent), ...waiting]) {
    expect(text).not.toContain(TYPED)
    expect(text).not.toContain(encodeURIComponent(KEY))
  }
})

/** The records of a call in both sources, once that many records exist. */
async function recordsOn(source: 'client' | 'resolver', path: string, count: number) {
  const found = await until(async () => {
    const records = (await stage.records(source)).filter(({ target_path }) => target_path === path)
    return records.length === count && records
  })
  return found.map(shared)
}

function shared(record: Recorded) {
  const { method, target_url, target_path, target_domain, ...rest } = record
  const { credential_ref, injection_style, decision, reason, status_code, redacted } = rest
  const target = { method, target_url, target_path, target_domain }
  return { ...target, credential_ref, injection_style, decision, reason, status_code, redacted }
}
