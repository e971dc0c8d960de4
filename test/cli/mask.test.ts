// tier: quick
import { expect, test } from 'bun:test'
import { prepareMask } from '../../src/cli/terminal/mask.ts'
import { FakeTimers } from '../support/fake_timers.ts'

const KEY = 'sk_live_4eC39HqLyjWDarjtT1zdp7dc'

function masked(values: Record<string, string>) {
  const written: string[] = []
  const timers = new FakeTimers()
  const print = (text: Uint8Array) => void written.push(Buffer.from(text).toString())
  const mask = prepareMask(values, timers)(print)
  const text = () => written.join('')
  return {
    text,
    /** Waits without output. */
    wait: (ms: number) => timers.advance(ms),
    write: (chunk: string) => mask.write(Buffer.from(chunk)),
    all: (output: string) => {
      mask.write(Buffer.from(output))
      mask.end()
      return text()
    },
  }
}

test('values are masked plain and encoded, however the text is split', () => {
  const base64 = Buffer.from(`user:${KEY}`).toString('base64')
  const output = `key ${KEY}\nauth ${base64}\nrest\n`
  const { all } = masked({ KEY })
  const whole = all(output)
  expect(whole).toMatch(/^key \[REDACTED\]\nauth \S*\[REDACTED\]\S*\nrest\n$/)
  const single = masked({ KEY })
  for (const character of output) single.write(character)
  expect(single.all('')).toBe(whole)
})

test('the first masked value of all outputs is reported, once', () => {
  let reports = 0
  const open = prepareMask({ KEY }, new FakeTimers(), () => {
    reports += 1
  })
  const [first, second] = [open(() => {}), open(() => {})]
  first.write(Buffer.from('nothing of a value\n'.repeat(100)))
  first.end()
  expect(reports).toBe(0)
  for (let time = 0; time < 2; time += 1)
    second.write(Buffer.from(`${KEY}\n${'The rest. '.repeat(200)}`))
  second.end()
  expect(reports).toBe(1)
})

test('ordinary output passes byte for byte', () => {
  const output = '{"ok":true,"port":8080,"level":"info","n":null}\n'
  expect(masked({ KEY, FLAG: 'true', OTHER: 'null', LEVEL: 'x' }).all(output)).toBe(output)
})

test('JSON stays JSON', () => {
  expect(masked({ PIN: '80801' }).all('{"pin":80801,"ok":true}')).toBe(
    '{"pin":"[REDACTED]","ok":true}',
  )
})

test('a prompt and echoed keys appear immediately, without further output', async () => {
  for (const prompt of ['login', 'deadbeefcafe', 'hello', '$', '100%']) {
    const { write, wait, text } = masked({ KEY })
    write(prompt)
    await wait(30)
    expect(text()).toBe(prompt)
  }
})

test('a value that pauses halfway is still masked', async () => {
  const { write, wait, text, all } = masked({ KEY })
  write(`key ${KEY.slice(0, 12)}`)
  await wait(999)
  expect(text()).not.toContain('sk_live')
  expect(all(`${KEY.slice(12)} rest\n`)).toBe('key [REDACTED] rest\n')
})

test('text that only starts like a value appears after a second of silence', async () => {
  const { write, wait, text } = masked({ KEY })
  write('sk_live')
  await wait(999)
  expect(text()).toBe('')
  await wait(1)
  expect(text()).toBe('sk_live')
})

test('a megabyte is masked in the same time for one value and for 2,000', () => {
  const values = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `KEY_${index}`,
        `sk_live_${Bun.hash(`a${index}`).toString(36)}${Bun.hash(`b${index}`).toString(36)}`,
      ]),
    )
  const lines = Array.from({ length: 16_000 }, (_, index) =>
    JSON.stringify({ id: index, url: `https://api.example.com/v1/items/${index}`, ok: true }),
  )
  const output = Buffer.from(`${lines.join('\n')}\n`)
  const milliseconds = (count: number) => {
    const open = prepareMask(values(count))
    const started = performance.now()
    let length = 0
    const mask = open((text) => {
      length += text.length
    })
    for (let at = 0; at < output.length; at += 65_536) mask.write(output.subarray(at, at + 65_536))
    mask.end()
    expect(length).toBe(output.length)
    return performance.now() - started
  }
  milliseconds(1)
  const one = Math.min(milliseconds(1), milliseconds(1), milliseconds(1))
  const many = Math.min(milliseconds(2_000), milliseconds(2_000), milliseconds(2_000))
  expect(many).toBeLessThan(4 * one + 100)
})
