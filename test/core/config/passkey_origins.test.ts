// tier: quick
/**
 * The origins where passkeys are used are configured, and only origins in which browsers offer passkeys are
 * accepted.
 */
import { describe, expect, test } from 'bun:test'
import { readConfig } from '../../../src/core/config/config.ts'
import { listRelyingParties } from '../../../src/core/config/passkey_origins.ts'

const keys = () => ({ SECRET_KEY: 'x'.repeat(32), ENCRYPTION_KEY: 'A'.repeat(43) })
const partiesOf = (env: Record<string, string>) =>
  Object.fromEntries(listRelyingParties(readConfig(env, keys)))

describe('origins of passkeys', () => {
  test('passkey origins are the named ones, each with its host name', () => {
    const PASSKEY_ORIGINS =
      'https://vault.example.com, http://localhost:8765,https://v.example:8443'
    expect(partiesOf({ PASSKEY_ORIGINS, SERVICE_SERVER_URL: 'https://other.example' })).toEqual({
      'https://vault.example.com': 'vault.example.com',
      'http://localhost:8765': 'localhost',
      'https://v.example:8443': 'v.example',
    })
  })

  test('the passkey origin defaults to the public address, if passkeys can be used there', () => {
    const of = (SERVICE_SERVER_URL: string) => partiesOf({ SERVICE_SERVER_URL })
    expect(of('https://vault.example.com/path/')).toEqual({
      'https://vault.example.com': 'vault.example.com',
    })
    expect(of('http://vault.localhost:8000')).toEqual({
      'http://vault.localhost:8000': 'vault.localhost',
    })
    for (const address of ['http://vault.example.com', 'https://10.0.0.1', 'https://[::1]:8000'])
      expect(of(address)).toEqual({})
    expect(partiesOf({})).toEqual({})
  })

  test.each([
    'https://vault.example.com/',
    'https://vault.example.com/console',
    'https://Vault.example.com',
    'http://vault.example.com',
    'http://127.0.0.1:8000',
    'https://[::1]',
    'vault.example.com',
    'https://notlocalhost.example,*',
    'http://evil-localhost',
  ])('%s is rejected at the start', (PASSKEY_ORIGINS) => {
    expect(() => readConfig({ PASSKEY_ORIGINS }, keys)).toThrow(
      /^PASSKEY_ORIGINS: must be origins such as/,
    )
  })
})
