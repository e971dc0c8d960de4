// tier: all
/**
 * Executes the commands of docs/start/install.md with a release of this executable at GitHub's addresses, which curl's
 * settings lead to a server of the test. test/packaging/debian.test.ts installs the Debian package,
 * test/packaging/production_install.test.ts builds from source, and test/deploy/image.test.ts builds the image.
 */
import { expect } from 'bun:test'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import project from '../../package.json' with { type: 'json' }
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import { formulaOf } from '../../src/dev/release/formula.ts'
import { sumsOf, textOf } from '../../src/dev/release/sums.ts'
import { executable } from '../binary/executable.ts'
import { requires } from '../support/requires.ts'
import { watched } from '../support/watched.ts'
import { scriptOf } from './blocks.ts'
import { ROOT } from './documents.ts'

const { afterAll, beforeAll, test } = requires('curl', 'ruby')

const RELEASES = '/OWNER/REPOSITORY/releases'
const URL = `https://github.com${RELEASES}/download/v0.1.0`
const FILES = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'].map(
  (target) => `cloakroom-${target}.gz`,
)

/** Homebrew, as far as the formula needs it: the file of this machine, its hash, `install` and `test`. */
const BREW = `#!/usr/bin/env ruby
require 'digest'
require 'tmpdir'
class Formula
  def self.method_missing(name, value = nil, &block)
    return (@given ||= {})[name] = block || value if block || value
    @given.fetch(name)
  end
  def self.on_macos = nil
  def self.on_linux = yield
  def self.on_arm = RUBY_PLATFORM.start_with?('aarch64') ? yield : nil
  def self.on_intel = RUBY_PLATFORM.start_with?('x86_64') ? yield : nil
  def self.test(&block) = block ? @test = block : @test
  def version = self.class.version
  def bin = Bin.new("#{Dir.home}/brew")
  def shell_output(command) = \`#{command}\`
  def assert_match(expected, text) = text.include?(expected) || raise("the formula's test fails: #{text}")
end
Bin = Struct.new(:to_s) do
  def install(files) = files.each { |from, to| system('install', '-D', from, "#{self}/#{to}", exception: true) }
end
raise 'unknown command' unless ARGV in ['install', String]
load "#{Dir.home}/taps/#{File.dirname(ARGV[1])}/Formula/#{File.basename(ARGV[1])}.rb"
Dir.mktmpdir do |folder|
  Dir.chdir(folder)
  system('curl', '-fsSLO', Cloakroom.url, exception: true)
  file = File.basename(Cloakroom.url)
  raise 'wrong hash' unless Digest::SHA256.file(file).hexdigest == Cloakroom.sha256
  system('gunzip', file, exception: true)
  formula = Cloakroom.new
  formula.install
  formula.instance_eval(&Cloakroom.test)
end
`

const PROGRAMS: Record<string, string> = {
  brew: BREW,
  // Otherwise root would install for the whole machine.
  id: '#!/bin/sh\necho 1000\n',
  // GitHub's attestation has the hashes of SHA256SUMS as its subjects: .github/workflows/release.yml.
  gh: `#!/bin/sh
    [ "$1 $2 $4 $5" = 'attestation verify --repo OWNER/REPOSITORY' ] && grep "^$(sha256sum <"$3" | cut -d ' ' -f 1) " SHA256SUMS\n`,
}

const home = mkdtempSync(join(tmpdir(), 'cr-install-page-'))
const release = join(home, 'release')
let github: ReturnType<typeof Bun.serve>

beforeAll(async () => {
  for (const folder of ['release', 'programs', 'taps/YOU/TAP/Formula'])
    mkdirSync(join(home, folder), { recursive: true })
  for (const [name, text] of Object.entries(PROGRAMS)) {
    writeFileSync(join(home, 'programs', name), text)
    chmodSync(join(home, 'programs', name), 0o755)
  }
  const [first = '', ...others] = FILES.map((name) => join(release, name))
  writeFileSync(first, gzipSync(readFileSync(await executable()), { level: 1 }))
  for (const other of others) linkSync(first, other)
  const installer = readFileSync(join(ROOT, 'src/dev/release/install.sh'), 'utf8')
  const published = installer.replace("published=''", `published='${URL}'`)
  writeFileSync(join(release, 'install.sh'), published)
  const sums = await sumsOf(release, [...FILES, 'install.sh'])
  writeFileSync(join(release, 'SHA256SUMS'), textOf(sums))
  writeFileSync(join(home, 'taps/YOU/TAP/Formula/cloakroom.rb'), formulaOf(sums, URL) ?? '')
  github = await serveRelease()
}, 60_000)
afterAll(async () => {
  await github.stop(true)
  rmSync(home, { recursive: true, force: true })
})

/** Redirects as GitHub does: to the version, then to the file. */
async function serveRelease() {
  const authority = await createAuthority('Test authority')
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: await authority.issue(['github.com']),
    fetch: ({ url }) => {
      const { pathname } = new globalThis.URL(url)
      const [, version, name = ''] = /^(.*)\/([\w.-]+)$/.exec(pathname) ?? []
      if (version === `${RELEASES}/latest/download`) return Response.redirect(`${URL}/${name}`)
      if (version === `${RELEASES}/download/v0.1.0`)
        return Response.redirect(`https://github.com/files/${name}`)
      return new Response(version === '/files' ? Bun.file(join(release, name)) : 'not found', {
        status: version === '/files' ? 200 : 404,
      })
    },
  })
  writeFileSync(join(home, 'ca.pem'), authority.certificate)
  const settings = `connect-to = "github.com:443:127.0.0.1:${server.port}"\ncacert = "${home}/ca.pem"\n`
  writeFileSync(join(home, '.curlrc'), settings)
  return server
}

async function type(script: string, cwd = home) {
  const PATH = ['.local/bin', 'programs'].map((name) => join(home, name)).join(':')
  const child = watched(
    Bun.spawn(['bash', '-euo', 'pipefail', '-c', script], {
      cwd,
      env: { HOME: home, PATH: `${PATH}:${process.env.PATH}` },
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, out, err }
}

test('the script installs the newest version, which checks itself', async () => {
  const { code, out, err } = await type(scriptOf('docs/start/install.md', 'script'))
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const [installed, ...checks] = out.trimEnd().split('\n')
  expect(installed).toBe(`Installed Cloakroom ${project.version} as ${home}/.local/bin/cloakroom.`)
  expect(checks.length).toBeGreaterThan(3)
  expect(checks.filter((line) => !/^(ok|skipped) /.test(line))).toEqual([])
}, 60_000)

test('the script of a version installs that version into a folder', async () => {
  const { code, out, err } = await type(scriptOf('docs/start/install.md', 'version'))
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toStartWith(`Installed Cloakroom ${project.version} as ${home}/bin/cloakroom.\n`)
}, 60_000)

test('brew installs the formula of a tap', async () => {
  expect(await type(scriptOf('docs/start/install.md', 'homebrew'))).toMatchObject({ code: 0 })
  const { out } = await type('~/brew/cloakroom --version')
  expect(out).toBe(`${project.version}\n`)
}, 60_000)

test('the commands that verify a download accept the files of the release, and no others', async () => {
  const downloads = join(home, 'downloads')
  mkdirSync(downloads)
  for (const name of ['cloakroom-linux-x64.gz', 'SHA256SUMS'])
    linkSync(join(release, name), join(downloads, name))
  const verify = scriptOf('docs/start/install.md', 'verify')
  const attestation = scriptOf('docs/start/install.md', 'attestation')
  expect(await type(verify, downloads)).toMatchObject({ code: 0, out: `${FILES[0]}: OK\n` })
  expect(await type(attestation, downloads)).toMatchObject({ code: 0 })
  rmSync(join(downloads, 'cloakroom-linux-x64.gz'))
  writeFileSync(join(downloads, 'cloakroom-linux-x64.gz'), 'changed')
  expect(await type(verify, downloads)).toMatchObject({ code: 1, out: `${FILES[0]}: FAILED\n` })
  expect(await type(attestation, downloads)).toMatchObject({ code: 1 })
}, 60_000)
