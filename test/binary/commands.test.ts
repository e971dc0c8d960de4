// tier: all
/** The executable's small commands: exit codes for scripts, and no files left behind. */
import { beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { version } from '../../package.json'
import { executable, runProgram } from './executable.ts'

beforeAll(async () => {
  await executable()
}, 60_000)

test('--version prints the version', async () => {
  expect(await runProgram({ args: ['--version'] })).toEqual({
    code: 0,
    stdout: `${version}\n`,
    stderr: '',
  })
})

test('help prints every command and exits with 0', async () => {
  for (const name of ['help', '--help']) {
    const { code, stdout, stderr } = await runProgram({ args: [name] })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const command of ['serve', 'demo', 'health', 'keygen']) expect(stdout).toContain(command)
  }
})

test('an unknown command exits with 2 with a message on standard error', async () => {
  const { code, stdout, stderr } = await runProgram({ args: ['no-such-command'] })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain("unknown command 'no-such-command'")
})

test('keygen prints new keys each time', async () => {
  const [first, second] = await Promise.all([
    runProgram({ args: ['keygen'] }),
    runProgram({ args: ['keygen'] }),
  ])
  for (const { code, stdout, stderr } of [first, second]) {
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(
      /^SECRET_KEY=[\w-]{64}\nENCRYPTION_KEY=[\w-]{43}\nCRON_SECRET=[\w-]{43}\n$/,
    )
  }
  expect(first.stdout).not.toBe(second.stdout)
})

test('the demo succeeds in an empty directory without any environment, and leaves it empty', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'cr-demo-'))
  const { code, stdout, stderr } = await runProgram({ args: ['demo'], cwd: empty })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('All claims held')
  expect(stdout).not.toContain('✗')
  expect(stdout).not.toMatch(/svc_agt_[0-9A-Za-z]{71}/)
  expect(readdirSync(empty)).toEqual([])
  rmSync(empty, { recursive: true })
}, 60_000)
