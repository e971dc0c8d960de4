// tier: all
/**
 * The published vectors, and the product's own, over the browser's crypto: the same tests, with other files under
 * them.
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { argon2id } from '../../../src/client/account/argon2.ts'
import { derive } from '../../../src/client/account/argon2_worker.ts'
import { utf8 } from '../../../src/core/crypto/encoding.ts'
import * as browser from '../../../src/core/crypto/native.browser.ts'
import { crc32 } from '../../../src/core/crypto/native.ts'
import { until } from '../../support/until.ts'
import { watched } from '../../support/watched.ts'

const FILES = [
  ...['published_vectors', 'protocol_vectors', 'frozen_vectors', 'secret_value', 'envelope'],
  ...['hpke_open', 'token', 'approval/approval'],
]

test("the browser code passes every vector and every property of the server's crypto", async () => {
  const paths = FILES.map((name) => join(import.meta.dir, `${name}.test.ts`))
  const preload = fileURLToPath(new URL('./browser_half.ts', import.meta.url))
  const child = watched(
    Bun.spawn([process.execPath, 'test', '--preload', preload, ...paths], {
      stdio: ['ignore', 'ignore', 'pipe'],
    }),
  )
  const said = await new Response(child.stderr).text()
  const failed = said.split('\n').filter((line) => /\(fail\)|^error/.test(line))
  expect([await child.exited, failed]).toEqual([0, []])
  expect(said).toMatch(/^ 0 fail$/m)
})

test("the browser's Argon2id equals the server's, over several lanes", async () => {
  const costs = { memory_kib: 256, iterations: 2, parallelism: 4 }
  for (const text of ['correct horse', 'žluťoučký kůň']) {
    const [message, salt] = [utf8(text), new Uint8Array(16).fill(text.length)]
    expect(await derive({ message, salt, ...costs })).toEqual(await argon2id(message, salt, costs))
  }
})

test("the browser's CRC-32 equals the server's, and IDs are of version 7, in the order of time", async () => {
  fc.assert(fc.property(fc.string(), (text) => browser.crc32(text) === crc32(text)))
  fc.assert(fc.property(fc.uint8Array(), (bytes) => browser.crc32(bytes) === crc32(bytes)))
  const first = browser.uuidv7()
  const madeAt = Number.parseInt(first.replace('-', '').slice(0, 12), 16)
  await until(() => Date.now() > madeAt, { stepMs: 1 })
  expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(first < browser.uuidv7()).toBe(true)
})
