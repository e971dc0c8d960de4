/** The formula for Homebrew: which file to take on which machine, and its hash. */
import project from '../../../package.json' with { type: 'json' }
import type { Sums } from './sums.ts'

export const FORMULA = 'cloakroom.rb'

/** Homebrew runs on these, the glibc of Linux included. */
const SYSTEMS = [
  [
    'on_macos',
    [
      ['on_arm', 'darwin-arm64'],
      ['on_intel', 'darwin-x64'],
    ],
  ],
  [
    'on_linux',
    [
      ['on_arm', 'linux-arm64'],
      ['on_intel', 'linux-x64'],
    ],
  ],
] as const

/** Returns `null` if files that it would name were not made. */
export function formulaOf(sums: Sums, url: string): string | null {
  const blocks = SYSTEMS.map(([system, processors]) => {
    const inner = processors.map(([processor, name]) => {
      const file = `cloakroom-${name}.gz`
      const sha256 = sums[file]
      return sha256 && processorBlock(processor, `${url}/${file}`, sha256)
    })
    return inner.includes(undefined) ? undefined : systemBlock(system, inner.join('\n'))
  })
  if (blocks.includes(undefined)) return null
  return `class Cloakroom < Formula
  desc "${project.description.replace(/^A z/, 'Z').replace(/\.$/, '')}"
  homepage "${url}"
  version "${project.version}"
  license "${project.license}"

${blocks.join('\n')}
  def install
    bin.install Dir["cloakroom-*"].first => "cloakroom"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/cloakroom --version")
  end
end
`
}

function systemBlock(system: string, inner: string): string {
  return `  ${system} do
${inner}  end
`
}

function processorBlock(processor: string, url: string, sha256: string): string {
  return `    ${processor} do
      url "${url}"
      sha256 "${sha256}"
    end
`
}
