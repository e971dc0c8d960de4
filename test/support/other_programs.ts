/**
 * Programs that tests use and that are too large for `bun install`: Python's, at the versions in
 * requirements.txt, the npm packages of test/package.json, and Go programs. Each is installed once, when it is
 * first needed, into a cache in node_modules. A test that uses Python or Go declares `requires('python-venv')` or
 * `requires('go')`; then a failed installation fails the test.
 *
 * bun test/support/other_programs.ts     installs the npm packages
 */
import { Database } from 'bun:sqlite'
import { existsSync, mkdtempSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { until } from './until.ts'
import { watched } from './watched.ts'

const CACHE = join(import.meta.dir, '..', '..', 'node_modules', '.cache', 'cloakroom')
const TEST = join(import.meta.dir, '..')
const REQUIREMENTS = join(import.meta.dir, 'requirements.txt')

/** The Python that has the packages. */
export async function otherPython(): Promise<string> {
  const place = await installed(
    'python',
    await Bun.file(REQUIREMENTS).text(),
    async (directory) => {
      await run([await pythonWithVenv(), '-m', 'venv', directory])
      const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps']
      // Python compiles what a test imports; compiling everything takes longer.
      const options = ['--no-compile', '--requirement', REQUIREMENTS]
      await run([join(directory, 'bin', 'python'), ...pip, ...options])
    },
  )
  return join(place, 'bin', 'python')
}

/**
 * Installs the npm packages of test/package.json, so that files in test/ can import them.
 *
 * @returns their `node_modules`
 */
export async function otherPackages(): Promise<string> {
  const files = ['package.json', 'bun.lock'].map((name) => join(TEST, name))
  const texts = await Promise.all(files.map((file) => Bun.file(file).text()))
  const place = await installed('npm', texts.join('\n'), async (directory) => {
    await Promise.all(
      files.map((file) => Bun.write(join(directory, basename(file)), Bun.file(file))),
    )
    await run([process.execPath, 'install', '--frozen-lockfile'], directory)
  })
  linkTo(join(place, 'node_modules'))
  return join(TEST, 'node_modules')
}

/** A link, so that the switch is atomic, and so that searches through test/ do not enter it. */
function linkTo(target: string): void {
  const link = join(TEST, 'node_modules')
  if (existsSync(link) && readlinkSync(link) === target) return
  const temporary = `${link}.${process.pid}`
  symlinkSync(target, temporary, 'junction')
  renameSync(temporary, link)
}

/** Without optimisation and debugging data, a build takes a fifth less; these programs run for moments. */
const QUICKLY = ['-gcflags=all=-N -l', '-ldflags=-s -w']

/** A program of Go, `module/path@version`, built from the sources of the module proxy. */
export async function otherGoProgram(module: string): Promise<string> {
  const place = await installed('go', module, (directory) =>
    run(['go', 'install', ...QUICKLY, module], undefined, { ...withGo(), GOBIN: directory }),
  )
  return join(place, basename(module.replace(/@.*/, '')))
}

/** A program of this repository over packages of Go, from its `main.go` and `go.mod`. */
export async function ownGoProgram(folder: string): Promise<string> {
  const files = ['go.mod', 'main.go'].map((name) => join(folder, name))
  const texts = await Promise.all(files.map((file) => Bun.file(file).text()))
  const place = await installed('go', texts.join('\n'), async (directory) => {
    await Promise.all(
      files.map((file) => Bun.write(join(directory, basename(file)), Bun.file(file))),
    )
    await run(['go', 'build', ...QUICKLY, '-mod=mod', '-o', 'program', '.'], directory, withGo())
  })
  return join(place, 'program')
}

function withGo(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env.PATH}:/usr/local/go/bin` }
}

/** One process installs while the others wait: three builds side by side take three times as long. */
async function installed(
  kind: string,
  versions: string,
  install: (directory: string) => Promise<void>,
): Promise<string> {
  const place = join(CACHE, `${kind}-${Bun.hash(versions).toString(36)}`)
  if (existsSync(place)) return place
  await mkdir(CACHE, { recursive: true })
  const unlock = await lock(`${place}.lock`)
  try {
    if (!existsSync(place)) await installInto(place, versions, install)
  } finally {
    unlock()
  }
  return place
}

async function installInto(
  place: string,
  versions: string,
  install: (directory: string) => Promise<void>,
): Promise<void> {
  const directory = mkdtempSync(`${place}.`)
  try {
    await install(directory)
    renameSync(directory, place)
  } catch (error) {
    rmSync(directory, { recursive: true, force: true })
    throw new Error(`cannot be installed: ${versions}`, { cause: error })
  }
}

/** SQLite's lock ends with its process, however that ends. */
async function lock(path: string): Promise<() => void> {
  const database = new Database(path)
  const isTaken = () => {
    try {
      database.exec('begin exclusive')
      return false
    } catch {
      return true
    }
  }
  await until(() => !isTaken(), { stepMs: 200, limitMs: 900_000 })
  return () => database.close()
}

/** Debian's own may come second in the path, and need python3-venv. */
async function pythonWithVenv(): Promise<string> {
  for (const python of ['python3', '/usr/bin/python3']) {
    const { success } = watched(Bun.spawnSync([python, '-c', 'import ensurepip, venv']))
    if (success) return python
  }
  throw new Error('there is no python3 with venv (Debian: python3-venv)')
}

async function run(command: string[], cwd?: string, env = process.env): Promise<void> {
  const child = watched(
    Bun.spawn(command, { ...(cwd && { cwd }), env, stdout: 'ignore', stderr: 'pipe' }),
  )
  const said = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}: ${said}`)
}

if (import.meta.main) await otherPackages()
