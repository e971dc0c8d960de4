/** Installs clients the way their users do, outside the repository, and returns how each is started. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Client, Language } from './client.ts'
import { clients } from './table/index.ts'

const PROGRAMS = join(import.meta.dir, 'programs')
const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'cloakroom', 'clients')
const NODE_PACKAGES = join(CACHE, 'node', 'node_modules')
const ARCH = process.arch

type Toolchain = {
  folder: string
  ending: string
  /** In a copy of the folder of programs; installed again only when a package or a program changed. */
  install(
    directory: string,
    packages: readonly string[],
    programs: readonly string[],
  ): Promise<unknown>
  command(directory: string, program: string): readonly string[]
}

/**
 * @returns the command that starts each client; all clients of a selected language are installed, so that none is
 * removed
 */
export async function install(chosen: readonly Client[]): Promise<(client: Client) => string[]> {
  const directories = new Map<string, string>()
  const folderOf = ({ language }: Client) => toolchains[language].folder
  for (const folder of new Set(chosen.map(folderOf))) {
    const all = clients.filter((client) => folderOf(client) === folder)
    directories.set(folder, await prepare(folder, all))
  }
  return ({ language, program }) => {
    const { folder, ending, command } = toolchains[language]
    return [...command(directories.get(folder) ?? '', `${program}${ending}`)]
  }
}

async function prepare(folder: string, some: readonly Client[]): Promise<string> {
  const directory = join(CACHE, folder)
  const packages = [...new Set(some.flatMap((client) => client.packages))].sort()
  const [toolchain] = some.map(({ language }) => toolchains[language])
  const programs = [...new Set(some.map(({ program }) => `${program}${toolchain?.ending}`))].sort()
  const texts = programs.map((name) => readFileSync(join(PROGRAMS, folder, name), 'utf8'))
  const stamp = new Bun.CryptoHasher('sha256')
    .update(JSON.stringify([packages, texts]))
    .digest('hex')
  const stampFile = join(directory, 'stamp')
  cpSync(join(PROGRAMS, folder), directory, { recursive: true })
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return directory
  process.stdout.write(`installing: ${packages.join(' ')}\n`)
  rmSync(stampFile, { force: true })
  await toolchain?.install(directory, packages, programs)
  writeFileSync(stampFile, stamp)
  return directory
}

async function debian(packages: readonly string[]): Promise<void> {
  const have = await Promise.all(
    packages.map(async (name) => (await Bun.$`dpkg -s ${name}`.quiet().nothrow()).exitCode === 0),
  )
  const missing = packages.filter((_, at) => !have[at])
  if (missing.length === 0) return
  const options = ['-qq', '-y', '--no-install-recommends']
  await Bun.$`apt-get install ${options} ${missing}`
    .env({ ...process.env, DEBIAN_FRONTEND: 'noninteractive' })
    .quiet()
}

/** `name@version`, where the name may begin with `@`. */
function dependenciesOf(packages: readonly string[]): Record<string, string> {
  const parts = packages.map((text) => [
    text.slice(0, text.lastIndexOf('@')),
    text.slice(text.lastIndexOf('@') + 1),
  ])
  return Object.fromEntries(parts)
}

const debianToolchain = (folder: string, ending: string, start: readonly string[]): Toolchain => ({
  folder,
  ending,
  install: (_, packages) => debian(packages),
  command: (directory, program) => [...start, join(directory, program)],
})

const nodeToolchain = (program: string, options: readonly string[]): Toolchain => ({
  folder: 'node',
  ending: '.mjs',
  install: async (directory, packages) => {
    const dependencies = dependenciesOf(packages)
    writeFileSync(join(directory, 'package.json'), JSON.stringify({ private: true, dependencies }))
    await Bun.$`${process.execPath} install --no-save`.cwd(directory).quiet()
  },
  command: (directory, name) => [program, ...options, join(directory, name)],
})

const python: Toolchain = {
  folder: 'python',
  ending: '.py',
  install: async (directory, packages) => {
    const environment = join(directory, 'environment')
    if (!existsSync(environment)) await Bun.$`python3 -m venv ${environment}`.quiet()
    await Bun.$`${join(environment, 'bin/pip')} install --quiet ${packages}`.quiet()
  },
  command: (directory, program) => [
    join(directory, 'environment/bin/python'),
    join(directory, program),
  ],
}

const go: Toolchain = {
  folder: 'go',
  ending: '.go',
  install: async (directory, packages, programs) => {
    const required = Object.entries(dependenciesOf(packages)).map(
      (parts) => `require ${parts.join(' ')}\n`,
    )
    writeFileSync(join(directory, 'go.mod'), `module clients\ngo 1.26\n${required.join('')}`)
    rmSync(join(directory, 'go.sum'), { force: true })
    for (const name of programs) {
      const binary = join('bin', name.replace('.go', ''))
      await Bun.$`go build -mod=mod -o ${binary} ${name} common.go`.cwd(directory).quiet()
    }
  },
  command: (directory, program) => [join(directory, 'bin', program.replace('.go', ''))],
}

const java: Toolchain = {
  folder: 'java',
  ending: '.java',
  install: async (directory, packages, programs) => {
    writeFileSync(join(directory, 'pom.xml'), pomOf(packages))
    rmSync(join(directory, 'lib'), { recursive: true, force: true })
    mkdirSync(join(directory, 'lib'))
    await Bun.$`mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib`.cwd(directory).quiet()
    await Bun.$`javac -cp ${'lib/*'} -d classes Common.java ${programs}`.cwd(directory).quiet()
  },
  command: (directory, program) => [
    ...['java', '-Xmx256m', '-cp', `${directory}/classes:${directory}/lib/*`],
    program.replace('.java', ''),
  ],
}

function pomOf(packages: readonly string[]): string {
  const dependencies = packages.map((text) => {
    const [group, artifact, version] = text.split(':')
    return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`
  })
  return `<project><modelVersion>4.0.0</modelVersion><groupId>clients</groupId><artifactId>clients</artifactId><version>1</version><dependencies>${dependencies.join('')}</dependencies></project>`
}

const rust: Toolchain = {
  folder: 'rust',
  ending: '.rs',
  install: async (directory, packages, programs) => {
    const dependencies = packages.map((text) => {
      const [name, version] = text.split(/@(.*)/)
      return `${name} = ${version}\n`
    })
    const binaries = programs.map(
      (name) => `[[bin]]\nname = "${name.replace('.rs', '')}"\npath = "${name}"\n`,
    )
    writeFileSync(
      join(directory, 'Cargo.toml'),
      `[package]\nname = "clients"\nversion = "0.0.0"\nedition = "2024"\n${binaries.join('')}[dependencies]\n${dependencies.join('')}`,
    )
    await Bun.$`cargo build --quiet`.cwd(directory).quiet()
  },
  command: (directory, program) => [join(directory, 'target/debug', program.replace('.rs', ''))],
}

const toolchains: Record<Language, Toolchain> = {
  'Command line': debianToolchain('shell', '.sh', ['bash']),
  'Node.js': nodeToolchain(join(NODE_PACKAGES, `node-linux-${ARCH}/bin/node`), []),
  Bun: nodeToolchain(process.execPath, []),
  Deno: nodeToolchain(join(NODE_PACKAGES, `@deno/linux-${ARCH}-glibc/deno`), ['run', '-A']),
  Python: python,
  Go: go,
  Java: java,
  Rust: rust,
  Ruby: debianToolchain('ruby', '.rb', ['ruby']),
  PHP: debianToolchain('php', '.php', ['php']),
  Perl: debianToolchain('perl', '.pl', ['perl']),
}
