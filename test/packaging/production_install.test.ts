// tier: all
/**
 * The README's commands for a clone. A production install contains everything that the demo and a server need. It has
 * no packages to build the console with, and the console's address answers how to install them.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { version } from '../../package.json'
import { linesOf, scriptOf } from '../docs/blocks.ts'
import { startServer } from '../support/server_process.ts'
import { watched } from '../support/watched.ts'

const ROOT = join(import.meta.dir, '..', '..')
const MAX_MEGABYTES = 200
const place = mkdtempSync(join(tmpdir(), 'cr-production-'))
const clone = join(place, 'clone')
const main = join(clone, 'src', 'main.ts')
afterAll(() => rmSync(place, { recursive: true, force: true }))

beforeAll(async () => {
  mkdirSync(clone)
  const files = await Bun.$`git ls-files --cached --others --exclude-standard`.cwd(ROOT).text()
  await Bun.$`tar c -T - < ${new Response(files)} | tar x -C ${clone}`.cwd(ROOT)
  const install = await run(process.execPath, 'install', '--production', '--frozen-lockfile')
  expect(install).toMatchObject({ code: 0 })
})

async function run(...command: string[]) {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, NO_COLOR: '1' }
  const child = watched(Bun.spawn(command, { cwd: clone, env, stdout: 'pipe', stderr: 'pipe' }))
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, out, err }
}

async function answerOf(url: string) {
  const answer = await fetch(url)
  return { status: answer.status, text: await answer.text(), headers: answer.headers }
}

test(`a production install has at most ${MAX_MEGABYTES} MB`, async () => {
  const { out } = await run('du', '-sm', 'node_modules')
  expect(Number.parseInt(out, 10)).toBeLessThanOrEqual(MAX_MEGABYTES)
})

/** Replaces npx, which downloads Bun: checks the version, and runs this Bun. */
const NPX = `npx() { [ "$1 $2" = "-y bun@${Bun.version}" ] && shift 2 && '${process.execPath}' "$@"; }\n`

test('the first command of the README runs the demo, which keeps its promises', async () => {
  const [demo = ''] = linesOf('README.md', 'clone')
  const { code, out } = await run('bash', '-c', `${NPX}${demo}`)
  expect({ demo, code }).toEqual({ demo: expect.stringContaining(' demo '), code: 0 })
  expect(out).toContain('the demo left no traces')
})

test('a server starts, and its console address explains how to get the console', async () => {
  const server = await startServer({ DATA_DIR: join(place, 'data') }, [process.execPath, main])
  expect(server.output()).toContain('/console/ (built when first opened)')
  const health = await answerOf(`${server.controlPlane}/api/status/health/`)
  const answer = await answerOf(`${server.controlPlane}/console/`)
  const docs = await answerOf(`${server.controlPlane}/docs/`)
  server.kill('SIGTERM')
  await server.exited
  expect(health.status).toBe(200)
  expect({ status: answer.status, text: answer.text }).toEqual({
    status: 503,
    text: 'The console is not built, because its packages are not installed. Run `bun install` in the source folder, then try again.\n',
  })
  expect([docs.status, docs.text]).toEqual([503, expect.stringContaining('`bun install`')])
  expect(answer.headers.get('content-type')).toBe('text/plain;charset=utf-8')
  expect(answer.headers.get('cache-control')).toBe('no-store')
})

test('cloakroom help prints the documentation without the development packages', async () => {
  const { code, out, err } = await run(process.execPath, main, 'help', 'agents')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toContain('cloakroom agent create')
})

test('the version has no hash of a console that is not built', async () => {
  const { code, out } = await run(process.execPath, main, 'version', '--json')
  expect({ code, console: JSON.parse(out).console }).toEqual({ code: 0, console: null })
})

test('with the development packages, two processes that need the console at once both get it', async () => {
  rmSync(join(clone, 'node_modules'), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  const started = [1, 2].map(() => run(process.execPath, main, 'version', '--json'))
  const hashes = (await Promise.all(started)).map(({ out }) => JSON.parse(out).console)
  expect(hashes).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), hashes[0]])
  // A change of the console's sources changes the served files.
  writeFileSync(join(clone, 'src/console/web/index.html'), '<!doctype html>{preloads}')
  const changed = await run(process.execPath, main, 'version', '--json')
  expect(JSON.parse(changed.out).console).not.toBe(hashes[0])
})

test('the commands of the README and of the first call build the program and put it on the path', async () => {
  const script = scriptOf('docs/start/first-call.md', 'build')
  const [, build = ''] = linesOf('README.md', 'clone')
  const inReadme = `${build}\n${scriptOf('README.md', 'path')}`
  const withoutComments = (text: string) => text.replaceAll(/ +#.*/g, '')
  expect(withoutComments(inReadme)).toBe(withoutComments(script))
  rmSync(join(clone, 'node_modules'), { recursive: true })
  const ask = 'command -v cloakroom && cloakroom --version'
  const { code, out } = await run('bash', '-ec', `${NPX}${script}${ask}`)
  expect({ code, last: out.trimEnd().split('\n').slice(-2) }).toEqual({
    code: 0,
    last: [join(clone, 'dist', 'cloakroom'), version],
  })
}, 180_000)

test('the commands of docs/start/install.md build from source and install for this user', async () => {
  const cache = process.env.BUN_INSTALL_CACHE_DIR ?? join(homedir(), '.bun/install/cache')
  const home = `export HOME='${place}' BUN_INSTALL_CACHE_DIR='${cache}'\n`
  const script = scriptOf('docs/start/install.md', 'source')
  expect(await run('bash', '-ec', `${NPX}${home}${script}`)).toMatchObject({ code: 0 })
  const { out } = await run(join(place, '.local/bin/cloakroom'), 'version', '--json')
  expect(JSON.parse(out)).toMatchObject({ version, console: expect.any(String) })
}, 180_000)
