// tier: all
/** `self-check` and `version` of the executable, run the way an installer or a person runs them. */
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import project from '../../package.json' with { type: 'json' }
import { openConsole } from '../../src/console/serve.ts'
import { runProgram } from './executable.ts'

test('all checks pass in an empty directory, and no file is created there', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'cr-self-'))
  const { code, stdout } = await runProgram({ args: ['self-check', '--json'], cwd })
  const results: { check: string; ok: boolean; said: string }[] = JSON.parse(stdout)
  expect(results.map(({ check, ok }) => [check, ok])).toEqual(
    ['settings', 'vectors', 'tls', 'files', 'database', 'clock', 'limits'].map((name) => [
      name,
      true,
    ]),
  )
  expect(code).toBe(0)
  expect([...new Bun.Glob('**').scanSync({ cwd, dot: true })]).toEqual([])
  rmSync(cwd, { recursive: true })
})

test('a failing check is reported, with exit code 1', async () => {
  const env = { RESOLVER_CA_FILE: '/nowhere/ca.pem' }
  const { code, stdout } = await runProgram({ args: ['self-check'], env })
  expect(code).toBe(1)
  expect(stdout).toContain('FAILED  files     RESOLVER_CA_FILE: is not a readable PEM file')
  expect(stdout).toContain('ok      vectors   9 published')
})

test('invalid settings are all reported, with exit code 78, and checks without settings still run', async () => {
  const env = { PORT: 'many', SERVICE_SETTINGS: 'else' }
  const { code, stdout } = await runProgram({ args: ['self-check'], env })
  expect(code).toBe(78)
  expect(stdout).toMatch(/^FAILED {2}settings {2}SERVICE_SETTINGS: .*\n {18}PORT: /)
  expect(stdout).toContain('ok      tls ')
  expect(stdout).not.toContain('database')
})

test('version prints the version of the program and of its console', async () => {
  const [text, json] = await Promise.all([
    runProgram({ args: ['version'] }),
    runProgram({ args: ['version', '--json'] }),
  ])
  expect(text.stdout).toBe(`${project.version}\n`)
  expect(JSON.parse(json.stdout)).toEqual({
    version: project.version,
    platform: process.platform,
    architecture: process.arch,
    bun: Bun.version,
    console: (await openConsole()).hash,
  })
})
