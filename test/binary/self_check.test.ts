// tier: all
/** `self-check` and `version` of the executable, as an installer or a person runs them. */
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import project from '../../package.json' with { type: 'json' }
import { openConsole } from '../../src/console/serve.ts'
import { runProgram } from './executable.ts'

test('in an empty directory all is well, and nothing is made there', async () => {
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

test('a check that fails is said, with exit code 1', async () => {
  const env = { RESOLVER_CA_FILE: '/nowhere/ca.pem' }
  const { code, stdout } = await runProgram({ args: ['self-check'], env })
  expect(code).toBe(1)
  expect(stdout).toContain('FAILED  files     RESOLVER_CA_FILE: is not a readable PEM file')
  expect(stdout).toContain('ok      vectors   9 published')
})

test('wrong settings are all said, with exit code 78, and what needs none is checked all the same', async () => {
  const env = { PORT: 'many', SERVICE_SETTINGS: 'else' }
  const { code, stdout } = await runProgram({ args: ['self-check'], env })
  expect(code).toBe(78)
  expect(stdout).toMatch(/^FAILED {2}settings {2}SERVICE_SETTINGS: .*\n {18}PORT: /)
  expect(stdout).toContain('ok      tls ')
  expect(stdout).not.toContain('database')
})

test('version says which program it is, down to its console', async () => {
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
