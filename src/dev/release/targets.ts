/** The platforms that a release has executables for. */

export type ReleaseTarget = {
  /** The name in install.sh and in file names. */
  name: string
  /** The npm package that holds Bun's runtime for the target, and the file's name in its bin folder. */
  runtime: string
  program: 'bun' | 'bun.exe'
  /** Debian's name for the architecture, if Debian supports it. */
  debian?: 'amd64' | 'arm64'
  /** Bun signs again for macOS on arm64 only; on x64 its own signature would stay, which fits no longer. */
  hasStaleSignature?: true
}

export const TARGETS: readonly ReleaseTarget[] = [
  { name: 'linux-x64', runtime: '@oven/bun-linux-x64', program: 'bun', debian: 'amd64' },
  { name: 'linux-x64-musl', runtime: '@oven/bun-linux-x64-musl', program: 'bun' },
  { name: 'linux-arm64', runtime: '@oven/bun-linux-aarch64', program: 'bun', debian: 'arm64' },
  { name: 'linux-arm64-musl', runtime: '@oven/bun-linux-aarch64-musl', program: 'bun' },
  { name: 'darwin-arm64', runtime: '@oven/bun-darwin-aarch64', program: 'bun' },
  {
    name: 'darwin-x64',
    runtime: '@oven/bun-darwin-x64',
    program: 'bun',
    hasStaleSignature: true,
  },
  { name: 'windows-x64', runtime: '@oven/bun-windows-x64', program: 'bun.exe' },
]

/** The executable's name before it is compressed. */
export function fileOf({ name, program }: ReleaseTarget): string {
  return `cloakroom-${name}${program === 'bun.exe' ? '.exe' : ''}`
}

/** Nothing on Windows opens a `.gz` by itself. */
export function publishedOf(target: ReleaseTarget): string {
  return target.program === 'bun.exe' ? fileOf(target) : `${fileOf(target)}.gz`
}

/** @throws Error for a name that is not in the table */
export function targetsNamed(names: readonly string[]): readonly ReleaseTarget[] {
  return names.map((name) => {
    const target = TARGETS.find((candidate) => candidate.name === name)
    if (target) return target
    const known = TARGETS.map((candidate) => candidate.name).join(', ')
    throw new Error(`there is no target ${name}; known are ${known}`)
  })
}
