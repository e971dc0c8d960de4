// tier: all
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildExecutable } from '../../../src/dev/build.ts'
import { watched } from '../../support/watched.ts'
import { startChild } from './process.ts'

let place = ''
let executable = ''

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'embedded-executable-'))
  executable = join(place, 'program')
  await buildExecutable({ entry: join(import.meta.dir, 'child.ts'), outfile: executable })
}, 60_000)

afterAll(() => rmSync(place, { recursive: true, force: true }))

test('the executable contains the database: it starts anywhere, is killed, and starts again', async () => {
  const directory = join(place, 'data')
  const first = startChild(directory, 'write', [executable])
  await first.until('50')
  await first.kill()
  const second = startChild(directory, 'close', [executable])
  expect(await second.ended).toBe(0)
  expect(second.lines()).toEqual(['starting', 'open', 'closed'])
}, 60_000)

test('the executable runs no code named by its folder or BUN_OPTIONS', async () => {
  const folder = join(place, 'folder')
  mkdirSync(join(folder, 'database', 'embedded'), { recursive: true })
  const hostile = join(folder, 'database', 'embedded', 'worker.js')
  writeFileSync(hostile, 'console.log("hostile")')
  writeFileSync(join(folder, 'bunfig.toml'), `preload = [${JSON.stringify(hostile)}]`)
  writeFileSync(join(folder, '.env'), `BUN_OPTIONS=--preload=${hostile}`)
  const child = watched(
    Bun.spawn([executable, join(place, 'other'), 'close'], {
      cwd: folder,
      env: { ...process.env, BUN_OPTIONS: `--preload=${hostile}` },
      stdout: 'pipe',
    }),
  )
  expect(await new Response(child.stdout).text()).toBe('starting\nextracting\nopen\nclosed\n')
  expect(await child.exited).toBe(0)
}, 60_000)
