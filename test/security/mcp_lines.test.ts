// tier: all
/**
 * Input that is not a message gets an error, and the server continues: a line that is too long once ended it
 * silently, and the sender waited forever. Text in tool output is escaped. The executable reads the pipes of its
 * process.
 */
import { afterAll, expect, test } from 'bun:test'
import { executable } from '../binary/executable.ts'
import { watched } from '../support/watched.ts'

const server = watched(
  Bun.spawn([await executable(), 'mcp'], {
    env: { SERVICE_TOKEN: 'x', HOME: '/nonexistent', PATH: process.env.PATH ?? '' },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  }),
)
afterAll(() => server.kill())

const reader = server.stdout.getReader()
let waiting = ''

async function nextLine(): Promise<unknown> {
  for (;;) {
    const at = waiting.indexOf('\n')
    if (at >= 0) {
      const line = waiting.slice(0, at)
      waiting = waiting.slice(at + 1)
      return JSON.parse(line)
    }
    const { done, value } = await reader.read()
    if (done) throw new Error('the server ended')
    waiting += Buffer.from(value).toString()
  }
}

async function sendLine(line: string | Uint8Array): Promise<unknown> {
  server.stdin.write(line)
  server.stdin.write('\n')
  await server.stdin.flush()
  return nextLine()
}

const refusal = (code: number, message: string, id: unknown = null) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})
const LONG = 'a'.repeat(11 * 1_048_576)
const TOO_LONG = 'a line has more than 10 MiB'
const NO_MESSAGE = 'a line is not a JSON-RPC 2.0 message'

test.each([
  ['garbage', 'garbage', refusal(-32_700, 'a line is not JSON')],
  ['half of a message', '{"jsonrpc":"2.0","id":5,', refusal(-32_700, 'a line is not JSON')],
  ['what is not UTF-8', new Uint8Array([0xff, 0xfe, 0x7b]), refusal(-32_700, 'a line is not JSON')],
  [
    'a zero byte',
    '{"jsonrpc":"2.0","id":5,"method":"ping"}\0',
    refusal(-32_700, 'a line is not JSON'),
  ],
  ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', refusal(-32_600, NO_MESSAGE)],
  ['no version', '{"id":7,"method":"ping"}', refusal(-32_600, NO_MESSAGE, 7)],
  ['an invalid id', '{"jsonrpc":"2.0","id":{},"method":"ping"}', refusal(-32_600, NO_MESSAGE)],
  ['a long line without id', LONG, refusal(-32_600, TOO_LONG)],
  [
    'a long line with the id at its beginning',
    `{"jsonrpc":"2.0","id":8,"method":"${LONG}"}`,
    refusal(-32_600, TOO_LONG, 8),
  ],
  [
    'a long line with the id at its end',
    `{"method":"tools/call","params":{"x":"${LONG}"},"jsonrpc":"2.0","id":"nine"}`,
    refusal(-32_600, TOO_LONG, 'nine'),
  ],
  [
    'a long line with an id of something else at its end',
    `{"method":"x${LONG}","params":{"a":1,"id":9}}`,
    refusal(-32_600, TOO_LONG),
  ],
])(
  '%s is answered, and the next message too',
  async (_, line, answer) => {
    expect(await sendLine(line)).toEqual(answer)
    expect(await sendLine('{"jsonrpc":"2.0","id":1,"method":"ping"}\r')).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {},
    })
  },
  60_000,
)

test('an answer, a notification and an empty line get no answer', async () => {
  server.stdin.write(
    '{"jsonrpc":"2.0","result":1}\n\n{"jsonrpc":"2.0","method":"notifications/x"}\n',
  )
  expect(await sendLine('{"jsonrpc":"2.0","id":2,"method":"ping"}')).toMatchObject({
    id: 2,
    result: {},
  })
})

test('a long line below the limit is a message', async () => {
  const text = 'a'.repeat(9 * 1_048_576)
  const line = JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'ping', params: { text } })
  expect(await sendLine(line)).toMatchObject({ id: 3, result: {} })
}, 60_000)

test('the end of input ends the server', async () => {
  await server.stdin.end()
  expect(await server.exited).toBe(0)
})
