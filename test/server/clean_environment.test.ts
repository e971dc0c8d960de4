// tier: quick
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanEnvironment, describeIgnoredProxies } from '../../src/core/clean_environment.ts'
import { watched } from '../support/watched.ts'

const MODULE = join(import.meta.dir, '../../src/core/clean_environment.ts')

test('an idle server keeps its compiled code, whatever the environment sets', () => {
  const given = {
    PATH: '/usr/bin',
    BUN_INSTALL: '/opt/bun',
    BUN_JSC_forceCodeBlockLiveness: '0',
    BUN_JSC_forceCodeBlockToJettisonDueToOldAge: '1',
  }

  expect(cleanEnvironment(given)).toEqual({
    PATH: '/usr/bin',
    BUN_INSTALL: '/opt/bun',
    BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
    BUN_JSC_forceCodeBlockLiveness: '1',
  })
})

test('a server names the ignored proxy variables, and no empty ones', () => {
  const url = 'http://user:password@127.0.0.1:9'
  expect(describeIgnoredProxies({ PATH: '/bin', no_proxy: '', MY_HTTPS_PROXY: url })).toBeNull()
  expect(describeIgnoredProxies({ NO_PROXY: 'a', HTTPS_PROXY: url, all_proxy: url })).toBe(
    "HTTPS_PROXY, NO_PROXY, all_proxy ignored: calls go directly to the API's host. No setting routes them through a proxy.",
  )
})

test('serve warns once about the variables that it ignores, without their values', async () => {
  const main = join(import.meta.dir, '../../src/main.ts')
  const env = { PATH: process.env.PATH ?? '', HTTPS_PROXY: 'http://127.0.0.1:9', PORT: 'none' }
  const child = watched(
    Bun.spawn([process.execPath, '--config=/dev/null', '--no-env-file', main, 'serve'], {
      env,
      stderr: 'pipe',
    }),
  )
  const [warning = '', ...complaints] = (await new Response(child.stderr).text()).split('\n')
  expect(JSON.parse(warning)).toMatchObject({
    level: 'warning',
    message: expect.stringContaining('HTTPS_PROXY ignored'),
  })
  expect(complaints.join()).toContain('PORT')
  expect(complaints.join()).not.toContain('PROXY')
  expect(warning).not.toContain('127.0.0.1:9')
  expect(await child.exited).toBe(78)
})

test('on Windows, which has no exec, a second process serves, and its exit code is that of the first', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cr-clean-'))
  const script = join(folder, 'program.ts')
  writeFileSync(
    script,
    `Object.defineProperty(process, 'platform', { value: 'win32' })
    const { enterCleanEnvironment } = await import(${JSON.stringify(MODULE)})
    enterCleanEnvironment()
    console.log(process.argv.slice(2).join(), process.env.HTTPS_PROXY)
    process.exit(7)`,
  )
  const env = { PATH: process.env.PATH ?? '', HTTPS_PROXY: 'http://127.0.0.1:9' }
  const child = watched(
    Bun.spawn([process.execPath, script, 'serve', '--now'], { env, stdout: 'pipe' }),
  )
  expect(await new Response(child.stdout).text()).toBe('serve,--now undefined\n')
  expect(await child.exited).toBe(7)
  rmSync(folder, { recursive: true })
})
