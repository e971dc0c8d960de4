/**
 * Tools that tests may need beyond Bun: how to find it, and the Debian packages that install it. `requires` skips
 * tests by this table, the runner prints the command from it, and `.ci/run` installs everything in it:
 *
 * bun test/support/needs.ts
 */
import { existsSync } from 'node:fs'
import { findPostgres } from './postgres_programs.ts'

type NeedEntry = {
  isPresent: () => boolean
  /** Debian packages; none where a package manager cannot help. */
  packages: readonly string[]
  /** The alternative. */
  otherwise?: string
}

/** Debian installs some programs where only root's PATH leads. */
const SEARCHED = `${process.env.PATH ?? ''}:/usr/sbin:/sbin:/usr/local/go/bin`

export function findProgram(name: string): string | null {
  return Bun.which(name, { PATH: SEARCHED })
}

function program(name: string, ...packages: string[]): NeedEntry {
  return {
    isPresent: () => findProgram(name) !== null,
    packages: packages.length > 0 ? packages : [name],
  }
}

function pythonModule(name: string, ...packages: string[]): NeedEntry {
  const isPresent = () => ['python3', '/usr/bin/python3'].some((python) => canImport(python, name))
  return { isPresent, packages }
}

function canImport(python: string, module: string): boolean {
  if (Bun.which(python) === null) return false
  return Bun.spawnSync([python, '-c', `import ${module}`], { stdout: 'ignore', stderr: 'ignore' })
    .success
}

function files(patterns: readonly string[], ...packages: string[]): NeedEntry {
  const isPresent = () =>
    patterns.every(
      (pattern) =>
        !new Bun.Glob(pattern).scanSync({ cwd: '/', onlyFiles: false, followSymlinks: true }).next()
          .done,
    )
  return { isPresent, packages }
}

const isX64Linux = process.platform === 'linux' && process.arch === 'x64'

export const NEEDS = {
  postgresql: { isPresent: () => findPostgres() !== null, packages: ['postgresql'] },
  chromium: { isPresent: () => existsSync('/usr/bin/chromium'), packages: ['chromium'] },
  nginx: program('nginx', 'nginx-light'),
  caddy: program('caddy'),
  pgbouncer: program('pgbouncer'),
  prometheus: program('promtool', 'prometheus'),
  systemd: program('systemd-analyze', 'systemd'),
  shellcheck: program('shellcheck'),
  busybox: program('busybox'),
  bash: program('bash'),
  dash: program('dash'),
  python: program('python3'),
  zsh: program('zsh'),
  fish: program('fish'),
  jq: program('jq'),
  curl: program('curl'),
  wget: program('wget'),
  git: program('git'),
  gh: program('gh'),
  ruby: program('ruby'),
  strace: program('strace'),
  procps: program('pgrep', 'procps'),
  node: program('node', 'nodejs'),
  java: program('java', 'default-jre-headless'),
  dpkg: program('dpkg-deb', 'dpkg'),
  openssl: program('openssl'),
  lsof: program('lsof'),
  faketime: files(['usr/lib/*/faketime/libfaketimeMT.so.1'], 'libfaketime'),
  // Its tests run the system's Python, whatever else is on the PATH.
  'python-requests': {
    isPresent: () => canImport('/usr/bin/python3', 'requests'),
    packages: ['python3', 'python3-requests'],
  },
  'python-venv': pythonModule('ensurepip', 'python3', 'python3-venv'),
  go: program('go', 'golang-go'),
  'arm64-emulation': {
    isPresent: () =>
      findProgram('qemu-aarch64-static') !== null && existsSync('/usr/aarch64-linux-gnu'),
    packages: isX64Linux ? ['qemu-user-static', 'libc6-arm64-cross'] : [],
    otherwise: 'needs Linux on x86-64',
  },
  root: { isPresent: () => process.getuid?.() === 0, packages: [], otherwise: 'run as root' },
  mounts: {
    isPresent: () => process.getuid?.() === 0 && canUnshare('--mount'),
    packages: [],
    otherwise: 'run as root on Linux, with the right to mount',
  },
  'network-namespaces': {
    isPresent: () =>
      process.getuid?.() === 0 &&
      findProgram('ip') !== null &&
      canUnshare('--mount', '--pid', '--net', '--fork'),
    packages: ['iproute2'],
    otherwise: 'run as root on Linux',
  },
} satisfies Record<string, NeedEntry>

export type Need = keyof typeof NEEDS

function canUnshare(...namespaces: string[]): boolean {
  return (
    findProgram('unshare') !== null &&
    Bun.spawnSync(['unshare', ...namespaces, 'true'], { stdout: 'ignore', stderr: 'ignore' })
      .success
  )
}

const present = new Map<Need, boolean>()

export function isPresent(need: Need): boolean {
  const known = present.get(need) ?? NEEDS[need].isPresent()
  present.set(need, known)
  return known
}

/** The command that provides it. */
export function howToInstall(need: Need): string {
  const { packages, otherwise }: NeedEntry = NEEDS[need]
  return packages.length > 0 ? `apt-get install ${packages.join(' ')}` : (otherwise ?? '')
}

/** Installs what is absent. @returns the needs that are still absent */
function installAll(): Need[] {
  const absent = () => (Object.keys(NEEDS) as Need[]).filter((need) => !NEEDS[need].isPresent())
  const packages = [...new Set(absent().flatMap((need): readonly string[] => NEEDS[need].packages))]
  if (packages.length === 0) return absent()
  // Debian would create and start a cluster; the tests create their own.
  const script = `mkdir -p /etc/postgresql-common
    [ -e /etc/postgresql-common/createcluster.conf ] ||
      echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
    apt-get update -qq && apt-get install -qq -y --no-install-recommends -o Dpkg::Options::=--force-unsafe-io ${packages.join(' ')}`
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  Bun.spawnSync(['sh', '-c', script], {
    env,
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
  })
  return absent()
}

if (import.meta.main) {
  const absent = installAll()
  for (const need of absent)
    process.stderr.write(`${need} is not installed: ${howToInstall(need)}\n`)
  process.exitCode = absent.length > 0 ? 1 : 0
}
