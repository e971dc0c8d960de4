// tier: all
/** The published files of one platform: the hashes match, and the descriptions are complete. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { openConsole } from '../../../src/console/serve.ts'
import { lockOf, packageAt } from '../../../src/dev/release/lock.ts'
import { installRuntimes } from '../../../src/dev/release/runtimes.ts'
import { targetsNamed } from '../../../src/dev/release/targets.ts'
import { watched } from '../../support/watched.ts'

const ROOT = join(import.meta.dir, '..', '..', '..')
const place = mkdtempSync(join(tmpdir(), 'cr-release-'))
const out = join(place, 'release')
const URL = 'https://releases.example.com/v1'

beforeAll(async () => {
  const { code, stderr } = await run('--target', 'linux-x64', '--out', out, '--url', URL)
  if (code !== 0) throw new Error(stderr)
}, 120_000)

afterAll(() => rmSync(place, { recursive: true, force: true }))

async function run(...args: string[]) {
  const child = watched(
    Bun.spawn([process.execPath, join(ROOT, 'src', 'dev', 'release', 'index.ts'), ...args], {
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

const bytesOf = (name: string) => readFileSync(join(out, name))
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

test('SHA256SUMS names every published file, and each hash matches', async () => {
  const checked = await Bun.$`sha256sum --strict -c SHA256SUMS`.cwd(out).quiet()
  const named = checked.stdout.toString().trimEnd().split('\n')
  expect(named.every((line) => line.endsWith(': OK'))).toBe(true)
  const listed = [...new Bun.Glob('*').scanSync(out)].filter((name) => name !== 'SHA256SUMS')
  expect(named.map((line) => line.replace(': OK', '')).sort()).toEqual(
    listed.filter((name) => name !== 'provenance.json').sort(),
  )
})

test('the console that a release publishes is the one that its server delivers', async () => {
  const { hash } = await openConsole()
  expect(sha256(bytesOf('console.SHA256SUMS'))).toBe(hash)
})

test('the provenance names the executable and its inputs, and states that it is not signed', async () => {
  const { _type, subject, predicateType, predicate } = JSON.parse(
    String(bytesOf('provenance.json')),
  )
  const executable = gunzipSync(bytesOf('cloakroom-linux-x64.gz'))
  expect({ _type, predicateType }).toEqual({
    _type: 'https://in-toto.io/Statement/v1',
    predicateType: 'https://slsa.dev/provenance/v1',
  })
  expect(subject).toContainEqual({
    name: 'cloakroom-linux-x64',
    digest: { sha256: sha256(executable) },
  })
  const { buildDefinition, runDetails } = predicate
  expect(buildDefinition.internalParameters).toEqual({ signed: false })
  expect(buildDefinition.resolvedDependencies).toContainEqual({
    uri: 'file:bun.lock',
    digest: { sha256: sha256(readFileSync(join(ROOT, 'bun.lock'))) },
  })
  expect(buildDefinition.resolvedDependencies.at(-1)).toEqual({
    uri: `pkg:npm/%40oven/bun-linux-x64@${Bun.version}`,
    digest: { sha512: expect.stringMatching(/^[0-9a-f]{128}$/) },
  })
  expect(runDetails.builder.version.bun).toStartWith(`v${Bun.version} `)
})

test("the bill of materials has package.json's dependencies with theirs, and no test-only package", () => {
  const { specVersion, components, dependencies } = JSON.parse(String(bytesOf('sbom.cdx.json')))
  const names = components.map(({ group, name }: Record<string, string>) =>
    group ? `${group}/${name}` : name,
  )
  expect(specVersion).toBe('1.6')
  expect(names).toContain('elysia')
  expect(names).toContain('memoirist')
  // Development dependencies that the console's bundle contains.
  expect(names).toContain('react-dom')
  expect(names).toContain('@noble/curves')
  expect(names).toContain('@oven/bun-linux-x64')
  expect(names).not.toContain('playwright-core')
  const refs = new Set(components.map((each: Record<string, string>) => each['bom-ref']))
  const needed = dependencies.flatMap(({ dependsOn = [] }: { dependsOn?: string[] }) => dependsOn)
  expect(needed.filter((ref: string) => !refs.has(ref))).toEqual([])
})

test('the installed program prints its version', async () => {
  const to = join(place, 'bin')
  const installed = await Bun.$`sh ${join(out, 'install.sh')} --from ${out} --to ${to}`.quiet()
  expect(installed.stdout.toString()).toContain(`as ${to}/cloakroom`)
  expect(sha256(readFileSync(join(to, 'cloakroom')))).toBe(
    sha256(gunzipSync(bytesOf('cloakroom-linux-x64.gz'))),
  )
})

test('a platform without a build is rejected by its name', async () => {
  const { code, stderr } = await run('--target', 'plan9-mips')
  expect(code).toBe(1)
  expect(stderr).toContain('there is no target plan9-mips; known are linux-x64')
})

test('an address that a shell would split is rejected', async () => {
  const { code, stderr } = await run('--url', "https://example.com/'; rm -rf ~; '")
  expect(code).toBe(1)
  expect(stderr).toContain('is no plain address')
})

test('a runtime other than the one of bun.lock is rejected', async () => {
  const targets = targetsNamed(['linux-x64'])
  const { integrity } = packageAt('@oven/bun-linux-x64')
  const lock = lockOf('runtimes', ['@oven/bun-linux-x64']).replace(
    integrity,
    `sha512-${'A'.repeat(86)}==`,
  )
  await expect(installRuntimes(targets, join(place, 'runtimes'), lock)).rejects.toThrow(
    'Integrity check failed',
  )
}, 60_000)
