// tier: quick
import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { buildFieldFault, Fault } from '../../src/core/fault.ts'
import { adviceFor } from '../../src/http/advice.ts'
import { defineEndpoint } from '../../src/http/endpoint.ts'
import { present, presentFault, Reply, replyCreated } from '../../src/http/reply.ts'

const endpoint = defineEndpoint({
  name: 'things.get',
  summary: 'Get a thing',
  method: 'GET',
  path: '/things/',
  access: { kind: 'public' },
  result: z.object({ name: z.string() }),
})

test('a response has only the fields that its contract names', async () => {
  const row = { name: 'a', passwordHash: 'hunter2' }
  expect(await present(endpoint, row, {}).text()).toBe('{"status":"success","data":{"name":"a"}}')
})

test('a response that breaks its contract is a defect whose message has no value', () => {
  const bad = { name: 7, other: 'hunter2' }
  const attempt = () => present(endpoint, bad, {})
  expect(attempt).toThrow(Fault)
  try {
    attempt()
  } catch (error) {
    expect(error).toMatchObject({ code: 'internal_error' })
    expect(String((error as Fault).cause)).toBe(
      'Error: the response of things.get violates its contract at: name',
    )
  }
})

describe('the envelope', () => {
  test('an envelope has data, message and pagination, each if present', async () => {
    const read = (response: Response) => response.json()
    expect(await read(present(endpoint, replyCreated({ name: 'a' }, 'Made.'), {}))).toEqual({
      status: 'success',
      message: 'Made.',
      data: { name: 'a' },
    })
    const { result: _, ...without } = endpoint
    expect(await read(present(without, undefined, {}))).toEqual({ status: 'success' })
    const list = { ...endpoint, result: z.array(z.string()), paged: true as const }
    expect(await read(present(list, new Reply(['a'], { nextCursor: 'next' }), {}))).toEqual({
      status: 'success',
      data: ['a'],
      pagination: { next_cursor: 'next' },
    })
  })
  test('a bare shape has no envelope', async () => {
    const bare = { ...endpoint, bare: true as const }
    expect(await present(bare, { name: 'a' }, {}).json()).toEqual({ name: 'a' })
  })
  test('a response of a degraded service has a retry time', () => {
    const bare = { ...endpoint, bare: true as const }
    const degraded = present(bare, new Reply({ name: 'a' }, { status: 503 }), { 'x-a': 'b' })
    expect([degraded.status, degraded.headers.get('retry-after')]).toEqual([503, '1'])
    expect(degraded.headers.get('x-a')).toBe('b')
    expect(present(bare, { name: 'a' }, {}).headers.get('retry-after')).toBeNull()
  })
  test('a response for a created item has status 201', () => {
    expect(present(endpoint, { name: 'a' }, {}).status).toBe(200)
    expect(present(endpoint, replyCreated({ name: 'a' }), {}).status).toBe(201)
    expect(present({ ...endpoint, success: 201 }, { name: 'a' }, {}).status).toBe(201)
  })
})

describe('a fault', () => {
  test('a fault has the shape of the control plane', async () => {
    const response = presentFault(buildFieldFault('a', 'is bad'), 'control-plane', 'the-id')
    expect(response.status).toBe(422)
    expect(await response.json()).toEqual({
      status: 'failure',
      error_code: 'validation_error',
      message: 'Some fields are invalid. a: is bad',
      fields: [{ path: 'a', message: 'is bad' }],
      ...adviceFor('validation_error'),
      request_id: 'the-id',
    })
  })
  test('a fault has the shape of the resolver', async () => {
    const response = presentFault(buildFieldFault('a', 'is bad'), 'resolver', 'the-id')
    expect(await response.json()).toEqual({
      error_code: 'validation_error',
      ...adviceFor('validation_error'),
      message: 'Some fields are invalid. a: is bad',
    })
  })
  test.each([
    ['invalid_token', 'www-authenticate', 'Bearer'],
    ['invalid_credentials', 'www-authenticate', 'Bearer'],
    ['rate_limited', 'retry-after', '1'],
    ['unavailable', 'retry-after', '1'],
    ['audit_unavailable', 'retry-after', '1'],
  ] as const)('%s carries %s', (code, header, value) => {
    expect(presentFault(new Fault(code), 'resolver', 'id').headers.get(header)).toBe(value)
  })
  test('a fault can replace its default headers', () => {
    const fault = new Fault('rate_limited', { headers: { 'retry-after': '7' } })
    expect(presentFault(fault, 'control-plane', 'id').headers.get('retry-after')).toBe('7')
  })
})
