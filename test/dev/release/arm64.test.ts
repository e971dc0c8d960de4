// tier: all
/** The executable for Linux on arm64, started: by QEMU, with the libraries that Debian has for cross-building. */
import { expect } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runtimeSettings } from '../../../src/core/clean_environment.ts'
import { buildFor } from '../../../src/dev/release/index.ts'
import { installRuntimes } from '../../../src/dev/release/runtimes.ts'
import { targetsNamed } from '../../../src/dev/release/targets.ts'
import { requires } from '../../support/requires.ts'
import { watched } from '../../support/watched.ts'

const { afterAll, beforeAll, test } = requires('arm64-emulation')

const QEMU = 'qemu-aarch64-static'
const LIBRARIES = '/usr/aarch64-linux-gnu'
const place = mkdtempSync(join(tmpdir(), 'cr-arm64-'))
const program = join(place, 'cloakroom')

afterAll(() => rmSync(place, { recursive: true, force: true }))

beforeAll(async () => {
  mkdirSync(join(place, 'empty'))
  const [target] = targetsNamed(['linux-arm64'])
  if (!target) throw new Error('unreachable')
  const runtimeOf = await installRuntimes([target], join(place, 'runtimes'))
  await buildFor(target, program, runtimeOf(target))
}, 120_000)

test('the arm64 executable is built for arm64, and all its checks pass', async () => {
  const env = { ...runtimeSettings, HOME: place, QEMU_LD_PREFIX: LIBRARIES }
  const run = async (...args: string[]) => {
    const options = { env, cwd: join(place, 'empty'), stdout: 'pipe', stderr: 'pipe' } as const
    const child = watched(Bun.spawn([QEMU, program, ...args, '--json'], options))
    return JSON.parse(await new Response(child.stdout).text())
  }
  const version = await run('version')
  const checks: { check: string; ok: boolean; said: string }[] = await run('self-check')
  expect(version).toMatchObject({ platform: 'linux', architecture: 'arm64', bun: Bun.version })
  expect(checks.filter(({ ok }) => !ok)).toEqual([])
  expect(checks).toHaveLength(7)
}, 120_000)
