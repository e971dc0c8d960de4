// tier: quick
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAuthorities } from '../../../src/core/config/authorities.ts'
import { ConfigError } from '../../../src/core/config/config.ts'

const directory = mkdtempSync(join(tmpdir(), 'cloakroom-authorities-'))
afterAll(() => rmSync(directory, { recursive: true }))

function fileWith(text: string): string {
  const file = join(directory, 'ca.pem')
  writeFileSync(file, text)
  return file
}

test('the text of a PEM file is returned whole', () => {
  const pem = '# ours\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'
  expect(readAuthorities(fileWith(pem))).toBe(pem)
})

test('no authorities exist without the setting', () => {
  expect(readAuthorities(undefined)).toBeUndefined()
})

test.each([
  ['a file that is not there', () => join(directory, 'missing.pem')],
  ['a directory', () => directory],
  ['a file without a certificate', () => fileWith('-----BEGIN PRIVATE KEY-----')],
])('%s is a problem of the configuration, named without its path', (_, fileOf) => {
  const file = fileOf()
  expect(() => readAuthorities(file)).toThrow(ConfigError)
  expect(() => readAuthorities(file)).toThrow(/^RESOLVER_CA_FILE: is not a readable PEM file/)
})
