// tier: quick
/** With the options that CONTRIBUTING.md names, Bun ignores a folder's bunfig.toml preloads and its .env. */
import { expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { watched } from '../support/watched.ts'

const ROOT = join(import.meta.dir, '..', '..')

test('a hostile folder runs nothing and sets nothing in a start from source', async () => {
  const guide = await Bun.file(join(ROOT, 'CONTRIBUTING.md')).text()
  const [, options = ''] = /^bun (.*) \/path\/to\/cloakroom\/src\/main\.ts$/m.exec(guide) ?? []
  const folder = mkdtempSync(join(tmpdir(), 'cr-hostile-'))
  writeFileSync(join(folder, 'bunfig.toml'), 'preload = ["./hostile.ts"]\n')
  writeFileSync(join(folder, 'hostile.ts'), 'await Bun.write("taken", "")\n')
  writeFileSync(join(folder, '.env'), 'SERVICE_SERVER_URL=https://hostile.example\n')
  const main = join(ROOT, 'src', 'main.ts')
  const child = watched(
    Bun.spawn([process.execPath, ...options.split(' ').filter(Boolean), main, 'config', '--json'], {
      cwd: folder,
      env: { HOME: folder, PATH: process.env.PATH ?? '' },
      stderr: 'pipe',
    }),
  )
  const out = await new Response(child.stdout).text()
  expect([await child.exited, out.includes('hostile.example')]).toEqual([0, false])
  expect(existsSync(join(folder, 'taken'))).toBe(false)
  rmSync(folder, { recursive: true, force: true })
})
