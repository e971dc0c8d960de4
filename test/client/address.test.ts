// tier: quick
import { expect, test } from 'bun:test'
import { faultOfAddress } from '../../src/client/http/address.ts'

const encrypted = [
  'https://vault.example.com',
  'https://vault.example.com:8443/below',
  'https://[::1]',
]
const loopback = [
  'http://127.0.0.1:8000',
  'http://127.1',
  'http://127.255.255.254',
  'http://0x7f000001',
  'http://[::1]:8000',
  'http://localhost',
  'http://LOCALHOST:1',
  'http://cloakroom.localhost',
]
const beyond = [
  'http://vault.example.com',
  'http://126.255.255.255',
  'http://128.0.0.1',
  'http://0.0.0.0',
  'http://[::]',
  'http://[::ffff:127.0.0.1]',
  'http://127.0.0.1.example.com',
  'http://127.0.0.1.nip.io',
  'http://localhost.example.com',
  'http://notlocalhost',
  'http://10.0.0.1',
]
const nothing = [
  '',
  'vault.example.com',
  'ftp://vault.example.com',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'https://',
  'https://vault.example.com@evil.example',
  'http://127.0.0.1:80@evil.example',
  'https://vault.example.com?x',
  'https://vault.example.com/#x',
]

test('an address that is encrypted or on this machine is accepted', () => {
  for (const address of [...encrypted, ...loopback]) {
    expect([address, faultOfAddress(address, false)]).toEqual([address, null])
  }
})

test('an unencrypted address of another machine needs confirmation', () => {
  for (const address of beyond) {
    expect([address, faultOfAddress(address, false)]).toEqual([address, 'not encrypted'])
    expect([address, faultOfAddress(address, true)]).toEqual([address, null])
  }
})

test('a text that is not an address is rejected, even with confirmation', () => {
  for (const address of nothing) {
    expect([address, faultOfAddress(address, true)]).toEqual([address, 'not an address'])
  }
})
