// tier: all
/** The same source results in the same files, wherever and whenever they are made. */
import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { archiveOf } from '../../../src/dev/archive.ts'
import { makeDebianPackage } from '../../../src/dev/release/debian.ts'
import { sha256OfFile } from '../../../src/dev/release/sums.ts'
import { executable } from '../../binary/executable.ts'
import { requires } from '../../support/requires.ts'
import { watched } from '../../support/watched.ts'

const ROOT = join(import.meta.dir, '..', '..', '..')
const place = mkdtempSync(join(tmpdir(), 'cr-again-'))

afterAll(() => rmSync(place, { recursive: true, force: true }))

requires('git').test(
  'an executable, with its database and its console, is the same when it is built in another folder',
  async () => {
    const copy = join(place, 'another', 'folder')
    mkdirSync(copy, { recursive: true })
    const files = await Bun.$`git ls-files --cached --others --exclude-standard`.cwd(ROOT).text()
    await Bun.$`tar c -T - < ${new Response(files)} | tar x -C ${copy}`.cwd(ROOT)
    // Other tests write to the cache meanwhile.
    const modules = readdirSync(join(ROOT, 'node_modules')).filter((name) => name !== '.cache')
    mkdirSync(join(copy, 'node_modules'))
    const into = join(copy, 'node_modules')
    // By hard links, unless the folder for temporary files is on another disk.
    await Bun.$`cp -al ${modules} ${into} || cp -a ${modules} ${into}`
      .cwd(join(ROOT, 'node_modules'))
      .quiet()
    const build = join(copy, 'src', 'dev', 'build.ts')
    const child = watched(
      Bun.spawn([process.execPath, build], { cwd: copy, stdout: 'ignore', stderr: 'pipe' }),
    )
    const stderr = await new Response(child.stderr).text()
    expect({ code: await child.exited, stderr }).toEqual({ code: 0, stderr: expect.any(String) })
    const [made, known] = [copy, ROOT].map((folder) => join(folder, 'dist', 'console.tar'))
    expect(await sha256OfFile(made ?? '')).toBe(await sha256OfFile(known ?? ''))
    expect(await sha256OfFile(join(copy, 'dist', 'cloakroom'))).toBe(
      await sha256OfFile(await executable()),
    )
  },
  120_000,
)

requires('dpkg').test('a package of Debian has the time of its source', async () => {
  const source = { commit: null, time: new Date('2026-01-02T03:04:05Z') }
  const contents = { executable: import.meta.path, architecture: 'amd64', source, folder: place }
  const file = join(place, await makeDebianPackage(contents))
  const listed = await Bun.$`dpkg-deb --contents ${file}`.env({ ...process.env, TZ: 'UTC' }).text()
  const lines = listed.trimEnd().split('\n')
  expect(lines.length).toBeGreaterThan(10)
  for (const line of lines) expect(line).toContain(' root/root ')
  for (const line of lines) expect(line).toContain(' 2026-01-02 03:04 ')
})

test('an archive has the date 1970, and its contents are unchanged', async () => {
  const files = { 'a/': new Uint8Array(), 'a/b': new TextEncoder().encode('text'.repeat(400)) }
  const archive = await archiveOf(files)
  const file = join(place, 'archive.tar')
  await Bun.write(file, archive)
  const listed = await Bun.$`tar -tvf ${file}`.env({ ...process.env, TZ: 'UTC' }).text()
  expect(listed.match(/1970-01-01 00:00/g)?.length).toBe(2)
  const [[name, read] = []] = await new Bun.Archive(archive).files()
  expect([name, await read?.text()]).toEqual(['a/b', 'text'.repeat(400)])
})
