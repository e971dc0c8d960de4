// tier: all
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { watched } from '../support/watched.ts'

const BUILD = join(import.meta.dir, '..', '..', 'src', 'dev', 'build.ts')

test('a build prints the files that it made and their sizes', async () => {
  const place = mkdtempSync(join(tmpdir(), 'cr-build-'))
  const child = watched(
    Bun.spawn([process.execPath, BUILD, '--outfile', 'bin/cloakroom'], {
      cwd: place,
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
  const [stdout, code] = await Promise.all([new Response(child.stdout).text(), child.exited])
  const { size, mode } = statSync(join(place, 'bin', 'cloakroom'))
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(
      new RegExp(
        `^Built bin/cloakroom \\(${Math.round(size / 1e6)} MB\\). Its console: SHA-256 [0-9a-f]{64}\n$`,
      ),
    ),
  })
  expect(mode & 0o100).toBe(0o100)
  rmSync(place, { recursive: true, force: true })
}, 60_000)
