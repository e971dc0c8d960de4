// tier: quick
/** Helper programs: each has a limit, and no other code in the source starts one. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HelperFailed, runHelper } from '../../src/core/helper_program.ts'
import { FakeTimers } from '../support/fake_timers.ts'
import { until } from '../support/until.ts'

const SRC = join(import.meta.dir, '..', '..', 'src')

test('a helper that hangs is killed at its limit, also if a child holds the pipes', async () => {
  const timers = new FakeTimers()
  const hanging = ['sh', '-c', 'echo begun; sleep 1000 & exec sleep 1000'] as const
  const ended = runHelper(hanging, { limitMs: 4_500, timers }).catch((error: unknown) => error)
  await until(() => timers.pending > 0)
  await timers.advance(4_500)
  const error = await ended
  expect(error).toBeInstanceOf(HelperFailed)
  expect(error).toMatchObject({ isHanging: true, message: 'sh did not respond within 4.5 seconds' })
})

test('a helper gets its input, and returns its code and both outputs', async () => {
  const command = ['sh', '-c', 'cat; echo problem >&2; exit 3'] as const
  expect(await runHelper(command, { limitMs: 60_000, input: 'text' })).toEqual({
    code: 3,
    out: 'text',
    err: 'problem\n',
  })
})

test('a missing helper is named', async () => {
  const missing = runHelper(['no-such-helper'], { limitMs: 60_000 })
  expect(missing).rejects.toMatchObject({
    isHanging: false,
    message: 'no-such-helper cannot be started (ENOENT)',
  })
})

/** The reason for each process without a limit: it is not a helper. */
const others: Readonly<Record<string, string>> = {
  'cli/terminal/child.ts': 'the program that a person asked to run',
  'cli/unlocked/index.ts': 'the process that keeps the key, whose start has a limit',
  'core/helper_program.ts': 'the place where helpers are started',
  'core/clean_environment.ts': 'the server itself, on Windows',
  'server/workers.ts': 'workers of the server, which live as long as it',
}

test('every other process of the product is a helper with a limit', () => {
  const starts = /Bun\.spawn(Sync)?\(|from 'node:child[_]process'|Bun\.\$\b/
  const found = [...new Bun.Glob('**/*.{ts,tsx}').scanSync(SRC)].filter(
    (path) => !path.startsWith('dev/') && starts.test(readFileSync(join(SRC, path), 'utf8')),
  )
  expect(found.sort()).toEqual(Object.keys(others).sort())
})
