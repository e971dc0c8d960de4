// tier: quick
import { expect, test } from 'bun:test'
import { describeError, openLog } from '../../src/core/log.ts'

test('each entry is one line of JSON, whatever its content', () => {
  const lines: string[] = []
  openLog('debug', (line) => lines.push(line)).warning('a\nb', {
    name: 'x\u001b[31m\r\n{"level":"error"}',
    nothing: undefined,
    count: 3,
  })
  expect(lines).toHaveLength(1)
  expect(lines[0]?.indexOf('\n')).toBe((lines[0]?.length ?? 0) - 1)
  expect(lines[0]).not.toContain('\u001b')
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    time: expect.stringMatching(/^\d{4}-.*Z$/),
    level: 'warning',
    pid: process.pid,
    message: 'a\nb',
    name: 'x\u001b[31m\r\n{"level":"error"}',
    count: 3,
  })
})

test('a line that is less severe than requested is not written', () => {
  const lines: string[] = []
  const log = openLog('warning', (line) => lines.push(line))
  for (const level of ['debug', 'info', 'warning', 'error'] as const) log[level](level)
  expect(lines.map((line) => JSON.parse(line).level)).toEqual(['warning', 'error'])
})

test('an error is described by class, code and place, never by its message', () => {
  const cause = Object.assign(new RangeError('cause hunter2'), { code: '23505' })
  const error = new TypeError('query with hunter2', { cause })
  const described = describeError(error)
  expect(described).toMatchObject({ error: 'TypeError', code: '23505', cause: 'RangeError' })
  expect(String(described.at)).toContain('log.test.ts')
  expect(JSON.stringify(described)).not.toContain('hunter2')
  expect(describeError('hunter2')).toEqual({ error: 'string' })
})

test('a multi-line message does not enter the log through the stack', () => {
  const error = new Error('first\n    at hunter2 (secret:1:1)')
  expect(JSON.stringify(describeError(error))).not.toContain('hunter2')
})
