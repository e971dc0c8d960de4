// tier: quick
/** Recomputes the examples on the protocol page (protocol 6 to 14) from the inputs that the page prints. */
import { expect, test } from 'bun:test'
import { callDigest } from '../../src/core/crypto/approval/digest.ts'
import { fromBase64, utf8 } from '../../src/core/crypto/encoding.ts'
import { keyCommitment } from '../../src/core/crypto/key_commitment.ts'
import { sha256 } from '../../src/core/crypto/primitives.ts'
import { deriveHeldKey } from '../../src/core/crypto/secret_value.ts'
import { Secret } from '../../src/core/secret.ts'
import { requestOf } from '../../src/notices/formats.ts'
import { encodeGrpcFrame, FLAGS, trailersFrame } from '../../src/outbound/grpc/frames.ts'
import { sign, signing } from '../../src/outbound/signing/sign.ts'
import { hashOf, makeBinding, manifestRoot } from '../../src/sigchain/index.ts'
import approvals from '../vectors/approvals-v3.json'
import v2 from '../vectors/protocol-v2.json'
import { textOf } from './documents.ts'

const page = textOf('docs/reference/protocol.md')

/** The code blocks of a section, without those of other sections. */
function blocksIn(number: string): string[] {
  const [, rest = ''] = page.split(new RegExp(`^#+ ${number}\\.? `, 'm'))
  const [section = ''] = rest.split(/^#+ \d/m)
  return [...section.matchAll(/^```text\n(.*?)^```/gms)].map(([, block = '']) => block)
}

/** Lines `name: value` of a block. An unknown name is an error, so that no input is read as empty. */
function readFields(block = ''): (name: string) => string {
  const fields = new Map(
    [...block.matchAll(/^([^:\n]+): +(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  )
  return (name) => {
    const value = fields.get(name)
    if (value === undefined) throw new Error(`the example has no line "${name}"`)
    return value
  }
}

const hex = (text: string) => Uint8Array.fromHex(text)

test('the gRPC example of protocol 6.3 is the body that the resolver writes', () => {
  const [block = ''] = blocksIn('6.3')
  const frames = [
    trailersFrame({}),
    encodeGrpcFrame(FLAGS.message, hex('0a0161')),
    trailersFrame({ 'grpc-status': '0' }),
  ]
  expect(block.replaceAll(/\s/g, '')).toBe(frames.map((frame) => frame.toHex()).join(''))
})

test('the signature example of protocol 6.5 has the header that `sign` makes', () => {
  const field = readFields(blocksIn('6.5')[0])
  const spec = signing.parse({
    type: 'hmac-sha256',
    secret: 'SVC_SECRET_KEY',
    header: 'X-Signature',
    template: '{timestamp}.{body}',
    value: 't={timestamp},v1={signature}',
  })
  expect(page).toContain(
    'template `{timestamp}.{body}` and the value `t={timestamp},v1={signature}`',
  )
  const request = {
    method: 'POST',
    authority: 'api.example.com',
    path: '/',
    search: '',
    headers: [],
    body: utf8(field('body')),
  }
  const values = new Map([['KEY', new Secret(utf8(field('key')))]])
  const { headers } = sign(spec, request, values, Number(field('time')) * 1000)
  expect(headers).toEqual([['X-Signature', field('header')]])
})

test('the key commitment of protocol 12.1 follows from workspace and epoch', () => {
  const field = readFields(blocksIn('12.1')[0])
  const commitment = keyCommitment(
    field('workspace id'),
    Number(field('epoch')),
    hex(field('workspace key')),
  )
  expect(commitment).toBe(field('key_commitment'))
  expect(commitment).toBe(v2.key_commitments[0]?.key_commitment ?? '')
})

test('the manifest root of protocol 12.2 covers the secret of the example', async () => {
  const field = readFields(blocksIn('12.2')[0])
  const value = fromBase64(field('value'))
  if (value === null) throw new Error('the value is not base64')
  expect(await manifestRoot(new Map([[field('key'), sha256(value)]]))).toBe(field('root'))
  expect(await manifestRoot(new Map())).toBe(field('root without secrets'))
})

test('the binding of protocol 12.2 follows from the token and the first link', async () => {
  const field = readFields(blocksIn('12.2')[1])
  const first = await hashOf(v2.chain.links[0]?.statement ?? '')
  expect(Buffer.from(first, 'base64url').toString('hex')).toBe(field('SHA-256 of link 1'))
  const token = { id: field('token id'), secret: hex(field('secret')) }
  expect(await makeBinding(token, first)).toBe(field('binding'))
})

test('the held key of protocol 14.1 follows from the workspace key', () => {
  const field = readFields(blocksIn('14.1')[0])
  const key = deriveHeldKey(
    hex(field('workspace key')),
    field('project id'),
    field('environment'),
    Number(field('epoch')),
  )
  expect(key.toHex()).toBe(field('HK'))
})

test('the digest of protocol 14.2 is the one of the call in the vectors', () => {
  const field = readFields(blocksIn('14.2')[0])
  const call = {
    ...approvals.call,
    v: 3 as const,
    headers: approvals.call.headers as [string, string][],
  }
  expect(field('EK')).toBe(approvals.environment_key)
  expect(callDigest(hex(field('EK')), call)).toBe(field('digest'))
})

test('the webhook example of protocol 14.5 is the request that a target receives', () => {
  const field = readFields(blocksIn('14.5')[0])
  const { id, event, workspace, created_at, ...fields } = JSON.parse(field('body'))
  const notice = { id, event, workspace, createdAt: new Date(created_at), fields }
  const target = {
    type: 'webhook' as const,
    url: 'https://hooks.example.com/',
    key: field('signing_key'),
  }
  const now = Number(field('t')) * 1000
  const request = requestOf(target, { notice, serverUrl: undefined, now })
  expect(Buffer.from(request.body).toString()).toBe(field('body'))
  expect(Object.fromEntries(request.headers)['x-cloakroom-signature']).toBe(
    field('X-Cloakroom-Signature'),
  )
})
