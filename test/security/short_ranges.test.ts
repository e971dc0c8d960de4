// tier: quick
/** A value cannot be read back in parts, nor guessed at the edges of parts (protocol 6.1). */
import { expect, test } from 'bun:test'
import { Fault } from '../../src/core/fault.ts'
import { rangeIn } from '../../src/outbound/answer/part.ts'
import { checkCallerHeaders } from '../../src/outbound/headers.ts'

function refusalOf(name: string, value: string, method: string): string | null {
  try {
    checkCallerHeaders({ [name]: value }, null, method)
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
])('the range %s is left out of GET and HEAD, and rejected for other methods', (value) => {
  for (const name of ['Range', 'x-ms-range', 'Request-Range']) {
    for (const method of ['GET', 'HEAD']) {
      const headers = { [name]: value, 'If-Range': '"a tag"', Accept: 'text/plain' }
      expect(checkCallerHeaders(headers, null, method)).toEqual([['Accept', 'text/plain']])
    }
    for (const method of ['PUT', 'POST', 'PATCH', 'DELETE']) {
      expect(refusalOf(name, value, method)).toBe('forbidden_header')
    }
  }
})

test.each(['items=0-24', '0-24', 'rows=1-2,5-6'])('the range %s is sent', (value) => {
  expect(checkCallerHeaders({ Range: value })).toEqual([['Range', value]])
})

test('the part of an S3 object is requested with its surroundings, and every other range is left out', () => {
  const range = { header: 'range', part: { first: 20_000, last: 20_000 } }
  expect(checkCallerHeaders({ Range: 'bytes=20000-20000' }, range)).toEqual([
    ['Range', 'bytes=3616-36384'],
  ])
  for (const name of ['X-Ms-Range', 'Request-Range']) {
    expect(checkCallerHeaders({ [name]: 'bytes=0-0' }, range)).toEqual([])
  }
})

test('the part of an Azure blob is requested with its surroundings, by its one range header, and not when it is written', () => {
  const names = ['range', 'x-ms-range']
  const sent = (method: string, headers: Record<string, string>) =>
    checkCallerHeaders(headers, rangeIn({ method, headers }, names), method)
  const wider = [['X-Ms-Range', 'bytes=3616-36384']]
  expect(sent('GET', { 'X-Ms-Range': 'bytes=20000-20000' }) as unknown).toEqual(wider)
  expect(sent('PUT', { 'x-ms-range': 'bytes=0-511' })).toEqual([['x-ms-range', 'bytes=0-511']])
  for (const [method, headers] of [
    ['PUT', { range: 'bytes=0-0' }],
    ['POST', { 'x-ms-range': 'bytes=0-0' }],
  ] as [string, Record<string, string>][]) {
    expect(() => sent(method, headers)).toThrow(Fault)
  }
  for (const headers of [
    { 'x-ms-range': 'bytes=0-0', range: 'bytes=0-0' },
    { 'x-ms-range': 'bytes=0-0,5-5' },
    { 'request-range': 'bytes=0-0' },
  ]) {
    expect(sent('GET', headers as Record<string, string>)).toEqual([])
  }
})
