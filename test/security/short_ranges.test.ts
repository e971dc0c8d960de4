// tier: quick
/** A value cannot be read back in parts, nor guessed at the edges of parts (protocol 6.1). */
import { expect, test } from 'bun:test'
import { rangeIn } from '../../src/outbound/answer/part.ts'
import { checkCallerHeaders } from '../../src/outbound/headers.ts'
import { Fault } from '../../src/platform/fault.ts'

function refusalOf(name: string, value: string): string | null {
  try {
    checkCallerHeaders({ [name]: value })
    return null
  } catch (error) {
    return error instanceof Fault ? error.code : String(error)
  }
}

test.each([
  'bytes=0-0',
  'bytes=0-4094',
  'bytes=-4095',
  'bytes=100-50',
  'bytes=0-5000,6000-12000',
  'BYTES = 0 - 10',
  'bytes=-',
  'bytes=abc',
  'bytes=1-2-3',
  'bytes=0-4095',
  'bytes=100-',
  'bytes=-4096',
  'bytes=0-99999',
])('the range %s is refused', (value) => {
  expect(refusalOf('Range', value)).toBe('forbidden_header')
  expect(refusalOf('x-ms-range', value)).toBe('forbidden_header')
})

test.each(['items=0-24', '0-24', 'rows=1-2,5-6'])('the range %s is let through', (value) => {
  expect(refusalOf('Range', value)).toBeNull()
})

test('the part of an object of S3 goes out with its surroundings, and every other range stays refused', () => {
  const range = { header: 'range', part: { first: 20_000, last: 20_000 } }
  expect(checkCallerHeaders({ Range: 'bytes=20000-20000' }, range)).toEqual([
    ['Range', 'bytes=3616-36384'],
  ])
  for (const name of ['X-Ms-Range', 'Request-Range']) {
    expect(() => checkCallerHeaders({ [name]: 'bytes=0-0' }, range)).toThrow(Fault)
  }
})

test('so does that of a blob of Azure, by the one header that asks for it, and not when it is written', () => {
  const names = ['range', 'x-ms-range']
  const sent = (method: string, headers: Record<string, string>) =>
    checkCallerHeaders(headers, rangeIn({ method, headers }, names))
  const wider = [['X-Ms-Range', 'bytes=3616-36384']]
  expect(sent('GET', { 'X-Ms-Range': 'bytes=20000-20000' }) as unknown).toEqual(wider)
  expect(sent('PUT', { 'x-ms-range': 'bytes=0-511' })).toEqual([['x-ms-range', 'bytes=0-511']])
  for (const [method, headers] of [
    ['GET', { 'x-ms-range': 'bytes=0-0', range: 'bytes=0-0' }],
    ['GET', { 'x-ms-range': 'bytes=0-0,5-5' }],
    ['PUT', { range: 'bytes=0-0' }],
    ['POST', { 'x-ms-range': 'bytes=0-0' }],
    ['GET', { 'request-range': 'bytes=0-0' }],
  ] as [string, Record<string, string>][]) {
    expect(() => sent(method, headers)).toThrow(Fault)
  }
})
