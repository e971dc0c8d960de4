// tier: all
/**
 * Executables for macOS, which cannot be started here: macOS kills programs with a wrong signature, and on arm64
 * programs without one. So each page is compared with its hash in the signature, like the system does.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildFor } from '../../../src/dev/release/index.ts'
import { installRuntimes } from '../../../src/dev/release/runtimes.ts'
import { targetsNamed } from '../../../src/dev/release/targets.ts'

const place = mkdtempSync(join(tmpdir(), 'cr-mac-'))
const targets = targetsNamed(['darwin-arm64', 'darwin-x64'])

beforeAll(async () => {
  const runtimeOf = await installRuntimes(targets, join(place, 'runtimes'))
  for (const target of targets) await buildFor(target, join(place, target.name), runtimeOf(target))
}, 120_000)

afterAll(() => rmSync(place, { recursive: true, force: true }))

/** <mach-o/loader.h> and <kern/cs_blobs.h>. */
const MAGIC_64 = 0xfeedfacf
const LC_CODE_SIGNATURE = 0x1d
const CODE_DIRECTORY = 0xfade0c02
const AD_HOC = 2

/** The position where the signature begins, or `null` without one. */
function signatureIn(file: Buffer): number | null {
  expect(file.readUInt32LE(0)).toBe(MAGIC_64)
  let at = 32
  for (let left = file.readUInt32LE(16); left > 0; left--) {
    if (file.readUInt32LE(at) === LC_CODE_SIGNATURE) return file.readUInt32LE(at + 8)
    at += file.readUInt32LE(at + 4)
  }
  return null
}

/** The number of pages, and the pages that differ from the signed ones. */
function pagesOf(file: Buffer, signature: number) {
  const directory = file.subarray(signature + file.readUInt32BE(signature + 16))
  expect(directory.readUInt32BE(0)).toBe(CODE_DIRECTORY)
  expect(directory.readUInt32BE(12) & AD_HOC).toBe(AD_HOC)
  const [hashes, pages, end] = [16, 28, 32].map((at) => directory.readUInt32BE(at))
  const size = 2 ** directory.readUInt8(39)
  if (hashes === undefined || pages === undefined || end === undefined) throw new Error('no pages')
  const differing = Array.from({ length: pages }, (_, index) => index).filter((index) => {
    const page = file.subarray(index * size, Math.min((index + 1) * size, end))
    const hash = directory.subarray(hashes + index * 32, hashes + (index + 1) * 32)
    return createHash('sha256').update(page).digest().compare(hash) !== 0
  })
  return { end, pages, differing }
}

test('on arm64 every page matches its signature, up to the signature itself', () => {
  const file = readFileSync(join(place, 'darwin-arm64'))
  const signature = signatureIn(file)
  if (signature === null) throw new Error('there is no signature')
  const { end, pages, differing } = pagesOf(file, signature)
  expect({ end, differing }).toEqual({ end: signature, differing: [] })
  expect(pages).toBeGreaterThan(1000)
  const changed = Buffer.from(file)
  changed.writeUInt8(changed.readUInt8(5_000_000) ^ 1, 5_000_000)
  expect(pagesOf(changed, signature).differing).toHaveLength(1)
})

test('on x64 the signature is removed, because that of the runtime no longer fits', () => {
  expect(signatureIn(readFileSync(join(place, 'darwin-x64')))).toBeNull()
  expect(statSync(join(place, 'darwin-x64')).mode & 0o111).toBe(0o111)
})
