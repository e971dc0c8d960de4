// tier: quick
import { expect, test } from 'bun:test'
import { prepareGuard } from '../../src/leak_guard/index.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const guarding = (value: string) =>
  prepareGuard([{ name: 'KEY', bytes: bytes(value) }])
    .forCall()
    .stream({ frames: 'events' })
const text = (given: Uint8Array) => new TextDecoder().decode(given)

test('a streamed event is sent whole with the chunk that completes it', () => {
  const redactor = guarding('sk_live_0123456789abcdef')
  for (const event of [
    'data: {"delta":"Hel"}\n\n',
    'data: {"delta":"lo & more"}\n\n',
    'data: [DONE]\n\n',
    'data: the last\n\n',
    'data: tests\n\n',
  ]) {
    expect(text(redactor.push(bytes(event)))).toBe(event)
  }
})

test('an incomplete event waits, and earlier ones do not', () => {
  const redactor = guarding('sk_live_0123456789abcdef')
  expect(text(redactor.push(bytes('data: one\n\nkey: sk_live_0123')))).toBe('data: one\n\n')
  expect(text(redactor.push(bytes('456789abcdef.\n\n')))).toBe('key: SVC_SECRET_KEY.\n\n')
  expect(text(redactor.flush())).toBe('')
})

test('a truncated escape waits for its end', () => {
  const redactor = guarding('a"secret"value')
  const given = [
    redactor.push(bytes('x a&quo')),
    redactor.push(bytes('t;secret\\u00')),
    redactor.push(bytes('22value y\n')),
  ]
  expect(given.map(text).join('') + text(redactor.flush())).toBe('x SVC_SECRET_KEY y\n')
})
