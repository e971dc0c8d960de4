// tier: all
/** install.sh: what it accepts, what it rejects, and that an error keeps the earlier installation. */
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { scriptOf } from '../docs/blocks.ts'
import { requires } from '../support/requires.ts'
import { watched } from '../support/watched.ts'

const SCRIPTS = join(import.meta.dir, '..', '..', 'src', 'dev', 'release')
const SCRIPT = join(SCRIPTS, 'install.sh')
const SHELLS = [['dash'], ['busybox', 'sh'], ['bash', '--posix']] as const

const place = mkdtempSync(join(tmpdir(), 'cr-install-'))
const from = join(place, 'release')
const to = join(place, 'bin')
const fakes = join(place, 'fakes')

/** Replaces executables; each prints the platform that it was published for. */
const TARGETS = ['linux-x64', 'linux-x64-musl', 'linux-arm64', 'darwin-arm64', 'darwin-x64']

const TOOLS = 'awk cat chmod cp cut dirname gzip id mkdir mktemp mv rm sh sha256sum'.split(' ')

beforeEach(() => {
  for (const folder of [from, to, fakes]) rmSync(folder, { recursive: true, force: true })
  for (const folder of [from, to, fakes]) mkdirSync(folder)
  const sums = TARGETS.map((target) => {
    const packed = gzipSync(`#!/bin/sh\necho 1.2.3-${target}\n`)
    writeFileSync(join(from, `cloakroom-${target}.gz`), packed)
    return `${sha256(packed)}  cloakroom-${target}.gz\n`
  })
  writeFileSync(join(from, 'SHA256SUMS'), sums.join(''))
  writeFileSync(join(to, 'cloakroom'), 'the one before')
  machine('Linux', 'x86_64', 'glibc')
})

afterAll(() => rmSync(place, { recursive: true, force: true }))

function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Sets the output of `uname`, `getconf` and `sysctl`. */
function machine(
  kernel: string,
  processor: string,
  libc: 'glibc' | 'musl' | 'none',
  translated = 0,
): void {
  fake('uname', `[ "$1" = -s ] && echo ${kernel} || echo ${processor}`)
  fake('getconf', libc === 'glibc' ? 'echo glibc 2.36' : 'exit 1')
  fake('ls', libc === 'musl' ? 'exit 0' : 'exit 2')
  fake('sysctl', `echo ${translated}`)
}

function fake(name: string, text: string): void {
  writeFileSync(join(fakes, name), `#!/bin/sh\n${text}\n`)
  chmodSync(join(fakes, name), 0o755)
}

async function install(options: {
  shell?: readonly string[]
  args?: string[]
  script?: string
  path?: string
}) {
  const args = options.args ?? ['--from', from, '--to', to]
  const path = options.path ?? `${fakes}:${process.env.PATH}`
  const child = watched(
    Bun.spawn([...(options.shell ?? ['sh']), options.script ?? SCRIPT, ...args], {
      env: { HOME: place, PATH: path },
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, stdout, stderr }
}

/** The files in the folder that it installs into, and the content of the executable. */
function installed() {
  return { names: readdirSync(to), text: readFileSync(join(to, 'cloakroom'), 'utf8') }
}

const UNTOUCHED = { names: ['cloakroom'], text: 'the one before' }

/** A server on loopback for the folder. */
function serve() {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async ({ url }) => {
      const file = Bun.file(join(from, new URL(url).pathname))
      return (await file.exists()) ? new Response(file) : new Response(null, { status: 404 })
    },
  })
}

for (const shell of SHELLS) {
  const { describe, test } = requires(shell[0])
  describe(shell.join(' '), () => {
    test('the installer installs from a folder, and replaces an earlier installation as a whole', async () => {
      const { code, stdout } = await install({ shell })
      expect({ code, stdout: stdout.split('\n')[0] }).toEqual({
        code: 0,
        stdout: `Installed Cloakroom 1.2.3-linux-x64 as ${to}/cloakroom.`,
      })
      expect(installed()).toEqual({
        names: ['cloakroom'],
        text: '#!/bin/sh\necho 1.2.3-linux-x64\n',
      })
      expect(statSync(join(to, 'cloakroom')).mode & 0o777).toBe(0o755)
    })

    for (const program of ['curl', 'wget'] as const) {
      const { test } = requires(shell[0], program)
      test(`the installer installs from an address with ${program}`, async () => {
        for (const name of [...TOOLS, program]) fake(name, `exec ${Bun.which(name)} "$@"`)
        const server = serve()
        const args = ['--from', server.url.origin, '--to', to]
        const [first = '', ...rest] = shell
        const absolute = [Bun.which(first) ?? first, ...rest]
        const { code, stderr } = await install({ shell: absolute, args, path: fakes })
        await server.stop(true)
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
        expect(installed().text).toContain('1.2.3-linux-x64')
      })

      test(`the installer rejects a redirect to plain HTTP with ${program}, and replaces nothing`, async () => {
        for (const name of [...TOOLS, program]) fake(name, `exec ${Bun.which(name)} "$@"`)
        const plain = serve()
        const redirecting = Bun.serve({
          port: 0,
          hostname: '127.0.0.1',
          fetch: ({ url }) => Response.redirect(`${plain.url.origin}${new URL(url).pathname}`, 302),
        })
        const args = ['--from', redirecting.url.origin, '--to', to]
        const [first = '', ...rest] = shell
        const absolute = [Bun.which(first) ?? first, ...rest]
        const { code, stderr } = await install({ shell: absolute, args, path: fakes })
        await Promise.all([plain.stop(true), redirecting.stop(true)])
        expect(code).toBe(1)
        expect(stderr).toContain('cannot be had')
        expect(installed()).toEqual(UNTOUCHED)
      })
    }

    test.each([
      ['changed', (bytes: Uint8Array) => bytes.with(20, (bytes[20] ?? 0) ^ 1)],
      ['cut off', (bytes: Uint8Array) => bytes.subarray(0, -5)],
      ['empty', () => new Uint8Array()],
    ])('the installer rejects an executable that is %s', async (_, change) => {
      const file = join(from, 'cloakroom-linux-x64.gz')
      writeFileSync(file, change(readFileSync(file)))
      const { code, stderr } = await install({ shell })
      expect(code).toBe(1)
      expect(stderr).toContain('cloakroom-linux-x64.gz is not what was published: SHA-256 ')
      expect(installed()).toEqual(UNTOUCHED)
    })
  })
}

requires('curl').test('from an address, what is changed or missing is refused', async () => {
  const server = serve()
  const args = ['--from', server.url.origin, '--to', to]
  writeFileSync(join(from, 'cloakroom-linux-x64.gz'), 'something else')
  const changed = await install({ args })
  rmSync(join(from, 'cloakroom-linux-x64.gz'))
  const missing = await install({ args })
  await server.stop(true)
  expect(changed.stderr).toContain('is not what was published')
  expect(missing.stderr).toContain('cloakroom-linux-x64.gz cannot be had')
  expect([changed.code, missing.code, installed()]).toEqual([1, 1, UNTOUCHED])
})

test.each([
  ['is missing', () => rmSync(join(from, 'SHA256SUMS')), 'SHA256SUMS cannot be read'],
  [
    'does not name it',
    () => writeFileSync(join(from, 'SHA256SUMS'), `${'0'.repeat(64)}  cloakroom-plan9.gz\n`),
    'does not say what cloakroom-linux-x64.gz is',
  ],
  [
    'names it twice',
    () => {
      const sums = readFileSync(join(from, 'SHA256SUMS'), 'utf8')
      writeFileSync(join(from, 'SHA256SUMS'), `${sums}${sums}`)
    },
    'does not say what cloakroom-linux-x64.gz is',
  ],
  [
    'names it without a hash',
    () => writeFileSync(join(from, 'SHA256SUMS'), '  cloakroom-linux-x64.gz\n'),
    'does not say what cloakroom-linux-x64.gz is',
  ],
])('a list of hashes that %s installs nothing', async (_, change, words) => {
  change()
  const { code, stderr } = await install({})
  expect(code).toBe(1)
  expect(stderr).toContain(words)
  expect(installed()).toEqual(UNTOUCHED)
})

test('the installer rejects files and list that were changed together, if the hash of the list is given', async () => {
  const sums = readFileSync(join(from, 'SHA256SUMS'))
  const args = ['--from', from, '--to', to, '--sums-sha256', sha256(sums)]
  expect((await install({ args })).code).toBe(0)
  const packed = gzipSync('#!/bin/sh\necho evil\n')
  writeFileSync(join(from, 'cloakroom-linux-x64.gz'), packed)
  writeFileSync(join(from, 'SHA256SUMS'), `${sha256(packed)}  cloakroom-linux-x64.gz\n`)
  const { code, stderr } = await install({ args })
  expect(code).toBe(1)
  expect(stderr).toContain('SHA256SUMS is not what was published')
  expect(installed().text).toContain('1.2.3')
})

test('an executable that does not run on this machine replaces nothing', async () => {
  const packed = gzipSync('\x7fELF of another machine')
  writeFileSync(join(from, 'cloakroom-linux-x64.gz'), packed)
  writeFileSync(join(from, 'SHA256SUMS'), `${sha256(packed)}  cloakroom-linux-x64.gz\n`)
  const { code, stderr } = await install({})
  expect(code).toBe(1)
  expect(stderr).toContain('cloakroom-linux-x64 does not run here')
  expect(installed()).toEqual(UNTOUCHED)
})

test.each([
  ['Linux', 'aarch64', 'glibc', 0, 'linux-arm64'],
  ['Linux', 'amd64', 'glibc', 0, 'linux-x64'],
  ['Linux', 'x86_64', 'musl', 0, 'linux-x64-musl'],
  ['Darwin', 'arm64', 'none', 0, 'darwin-arm64'],
  ['Darwin', 'x86_64', 'none', 0, 'darwin-x64'],
  ['Darwin', 'x86_64', 'none', 1, 'darwin-arm64'],
] as const)(
  '%s on %s (%s, translated %i) gets %s',
  async (kernel, processor, libc, translated, target) => {
    machine(kernel, processor, libc, translated)
    const { stdout } = await install({})
    expect(stdout).toStartWith(`Installed Cloakroom 1.2.3-${target} as`)
  },
)

test.each([
  ['Linux', 'riscv64', 'there is no executable for Linux on riscv64'],
  ['MINGW64_NT', 'x86_64', 'for Windows take cloakroom-windows-x64.exe'],
])('%s on %s gets the list of executables', async (kernel, processor, words) => {
  machine(kernel, processor, 'none')
  const { code, stderr } = await install({})
  expect(code).toBe(1)
  expect(stderr).toContain(words)
})

test.each([
  [['--from', 'http://releases.example.com'], 'only https, and http of this machine'],
  [['--from', 'http://localhost.example.com'], 'only https, and http of this machine'],
  [['--from', 'ftp://releases.example.com'], 'only https, and http of this machine'],
  [['--from', '/does/not/exist'], 'there is no folder /does/not/exist'],
  [[], 'say with --from where the files are'],
  [['--from', 'http://localhost:x@192.0.2.1/'], 'an address has no user in it'],
  [['--from', 'https://releases.example.com@192.0.2.1'], 'an address has no user in it'],
  [['--from', '-x'], 'there is no folder -x'],
  [['--from'], '--from needs a value'],
  [['--from', from, '--to', to, '--sums-sha256', ''], '--sums-sha256 needs a value'],
  [['--force', 'yes'], 'unknown option --force'],
])('the installer rejects %p', async (args, words) => {
  const { code, stderr } = await install({ args })
  expect(code).toBe(1)
  expect(stderr).toContain(words)
})

test("beside the files the installer needs no option and no root: it installs into the user's home", async () => {
  const script = join(from, 'install.sh')
  writeFileSync(script, readFileSync(SCRIPT))
  fake('id', 'echo 1000')
  const { code, stdout } = await install({ script, args: [] })
  expect(code).toBe(0)
  expect(stdout).toContain(`as ${place}/.local/bin/cloakroom.\n`)
  expect(stdout).toContain(`${place}/.local/bin is not in PATH`)
})

requires('curl').test(
  'as it is published, one command is all: it is piped into a shell and knows where it came from',
  async () => {
    const server = serve()
    const script = readFileSync(SCRIPT, 'utf8')
    const published = script.replace("published=''", `published='${server.url.origin}'`)
    expect(published).not.toBe(script)
    writeFileSync(join(from, 'install.sh'), published)
    fake('id', 'echo 1000')
    const line = scriptOf('docs/start/first-call.md', 'install').replace(
      'https://github.com/OWNER/REPOSITORY/releases/latest/download',
      server.url.origin,
    )
    const { code, stdout } = await install({ shell: ['sh', '-c'], script: line, args: [] })
    await server.stop(true)
    expect(code).toBe(0)
    expect(stdout).toContain(`as ${place}/.local/bin/cloakroom.`)
  },
)

test('an installer piped into a shell ignores files in the current folder', async () => {
  const line = `cd ${from} && sh -s -- --to ${to} <${SCRIPT}`
  const { code, stderr } = await install({ shell: ['sh', '-c'], script: line, args: [] })
  expect(code).toBe(1)
  expect(stderr).toContain('say with --from where the files are')
  expect(installed()).toEqual(UNTOUCHED)
})

test('a destination that is a folder is rejected', async () => {
  rmSync(join(to, 'cloakroom'))
  mkdirSync(join(to, 'cloakroom'))
  const { code, stderr } = await install({})
  expect([code, stderr]).toEqual([1, `install.sh: ${to}/cloakroom is a folder\n`])
  expect(readdirSync(join(to, 'cloakroom'))).toEqual([])
})

test('a truncated script does nothing, wherever it ends', async () => {
  const whole = readFileSync(SCRIPT, 'utf8')
  const script = join(place, 'cut.sh')
  for (let part = 1; part < 12; part++) {
    writeFileSync(script, whole.slice(0, Math.floor((whole.length * part) / 12)))
    await install({ script })
    expect(installed()).toEqual(UNTOUCHED)
  }
})

requires('shellcheck').test('shellcheck finds nothing wrong with the scripts', async () => {
  const scripts = ['install.sh', 'debian/postinst', 'debian/prerm', 'debian/postrm']
  const paths = scripts.map((name) => join(SCRIPTS, name))
  const { exitCode, stdout } = await Bun.$`shellcheck ${paths}`.quiet().nothrow()
  expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 0, stdout: '' })
})
