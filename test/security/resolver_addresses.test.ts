// tier: quick
/** An allowed name never resolves into the operator's network, whatever DNS answers, and when. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  type Agent,
  createAgentWithToken,
  expectRefused,
  openStage,
  type Stage,
} from '../support/agent.ts'
import { marked } from '../support/canary.ts'

const NAME = 'moving.example'
const PUBLIC = '93.184.216.34'

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await openStage({
    env: { RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32,0.0.0.0/32,::1/128,::/128' },
    names: [NAME],
  })
  agent = await createAgentWithToken(stage, { secrets: { KEY: marked('sk_live_address') } })
  await agent.allow(NAME, `${NAME}:${stage.upstream.port}`)
}, 30_000)
afterAll(() => stage.stop())

const call = (url = `https://${NAME}/`) => ({
  target_url: url,
  headers: { Authorization: 'Bearer SVC_SECRET_KEY' },
})

describe('a public name is 403 address_blocked, with one lookup only, if it has', () => {
  const addresses: [string, string[]][] = [
    ['a private address', ['10.0.0.1']],
    ['the last of a private range', ['172.31.255.255']],
    ['a home network', ['192.168.1.1']],
    ['carrier-grade NAT', ['100.64.0.1']],
    ['another loopback address', ['127.0.0.2']],
    ['link-local', ['169.254.1.1']],
    ['cloud metadata', ['169.254.169.254']],
    ['Azure’s wire server', ['168.63.129.16']],
    ['this network', ['0.0.0.1']],
    ['multicast', ['224.0.0.1']],
    ['broadcast', ['255.255.255.255']],
    ['documentation', ['203.0.113.1']],
    ['benchmarks', ['198.18.0.1']],
    ['unique local', ['fd00::1']],
    ['AWS metadata', ['fd00:ec2::254']],
    ['link-local v6', ['fe80::1']],
    ['a zone', ['fe80::1%eth0']],
    ['mapped loopback', ['::ffff:127.0.0.1']],
    ['mapped loopback in hex', ['::ffff:7f00:1']],
    ['mapped public', [`::ffff:${PUBLIC}`]],
    ['compatible loopback', ['::127.0.0.1']],
    ['NAT64 of loopback', ['64:ff9b::7f00:1']],
    ['NAT64 of a private address', ['64:ff9b::a00:1']],
    ['local NAT64', ['64:ff9b:1::a00:1']],
    ['6to4 of a private address', ['2002:0a00:0001::1']],
    ['Teredo', ['2001:0:1::1']],
    ['site-local', ['fec0::1']],
    ['public and private', [PUBLIC, '10.0.0.1']],
    ['private and public', ['10.0.0.1', PUBLIC]],
    ['public and loopback v6', ['2606:4700::1', '::2']],
    ['not an address at all', ['localhost']],
    ['octal', ['0177.0.0.1']],
    ['decimal', ['2130706433']],
    ['nothing', ['']],
  ]
  test.each(addresses)('%s', async (_, answer) => {
    stage.names.set(NAME, answer)
    stage.lookups.length = 0
    await expectRefused(stage, agent, call(), 'address_blocked')
    expect(stage.lookups).toEqual([NAME])
  })
})

test('the checked address is dialled, whatever the name resolves to a moment later', async () => {
  const answers = [['127.0.0.1'], ['10.0.0.1'], ['127.0.0.1']]
  stage.names.set(NAME, async () => answers.shift() ?? [])
  stage.lookups.length = 0
  const url = stage.url('/rebound', NAME)
  expect((await agent.resolve(call(url))).status).toBe(200)
  expect(stage.lookups).toEqual([NAME])
  await expectRefused(stage, agent, call(url), 'address_blocked')
  expect((await agent.resolve(call(url))).status).toBe(200)
  const hosts = stage.upstream.received.map((request) => request.header('host'))
  expect(hosts).toEqual([stage.authorityOf(NAME), stage.authorityOf(NAME)])
})

test('an address is dialled while it may be cached, and is no permission', async () => {
  stage.names.set(NAME, ['127.0.0.1'])
  stage.ttls.set(NAME, 60)
  stage.lookups.length = 0
  const url = stage.url('/kept', NAME)
  expect((await agent.resolve(call(url))).status).toBe(200)
  stage.names.set(NAME, ['10.0.0.1'])
  expect((await agent.resolve(call(url))).status).toBe(200)
  await agent.disallow(stage.authorityOf(NAME))
  await expectRefused(stage, agent, call(url), 'domain_blocked')
  await agent.allow(stage.authorityOf(NAME))
  expect(stage.lookups).toEqual([NAME])
  stage.app.clock.advance(10_000)
  await expectRefused(stage, agent, call(url), 'address_blocked')
  expect(stage.lookups).toEqual([NAME, NAME])
  stage.ttls.delete(NAME)
})

test('a repeated decision uses the address of the first lookup', async () => {
  let changed = false
  stage.names.set(NAME, async () => {
    if (!changed) await agent.allow('unrelated.example')
    changed = true
    return ['127.0.0.1']
  })
  stage.lookups.length = 0
  expect((await agent.resolve(call(stage.url('/again', NAME)))).status).toBe(200)
  expect(stage.lookups).toEqual([NAME])
})

describe('the product’s own listeners are 403 address_blocked', () => {
  const own = [
    '127.0.0.1',
    '0.0.0.0',
    '::1',
    '0:0:0:0:0:0:0:1',
    '0000:0000:0000:0000:0000:0000:0000:0001',
    '::',
    '0:0:0:0:0:0:0:0',
  ]
  test.each(own)(
    'the product’s own listeners are blocked although the operator lists the network of %s',
    async (address) => {
      stage.names.set(NAME, [address])
      for (const origin of [stage.app.resolver, stage.app.controlPlane]) {
        const { port } = new URL(origin)
        await agent.allow(`${NAME}:${port}`)
        await expectRefused(stage, agent, call(`https://${NAME}:${port}/`), 'address_blocked')
      }
    },
  )
})
