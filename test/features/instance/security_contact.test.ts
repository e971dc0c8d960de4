// tier: quick
/** The contact for security reports about this installation: RFC 9116, from one setting. */
import { afterAll, expect, test } from 'bun:test'
import { ConfigError, readConfig } from '../../../src/core/config/config.ts'
import { startTestApp } from '../../support/app.ts'

const PATH = '/.well-known/security.txt'
const app = await startTestApp({
  SECURITY_CONTACT: 'mailto:security@example.com, https://example.com/report',
  SERVICE_SERVER_URL: 'https://vault.example.com',
  SERVICE_RESOLVER_URL: 'https://vault.example.com/resolver',
})
afterAll(() => app.stop())

test('both listeners return the contact to anyone, as text that expires within a year but not soon', async () => {
  for (const listener of [app.controlPlane, app.resolver]) {
    const response = await fetch(`${listener}${PATH}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const [first, second, expires = '', canonical, ...rest] = (await response.text()).split('\n')
    expect([first, second, canonical, rest]).toEqual([
      'Contact: mailto:security@example.com',
      'Contact: https://example.com/report',
      // The resolver has no separate origin here.
      `Canonical: https://vault.example.com${PATH}`,
      [''],
    ])
    expect(expires).toMatch(/^Expires: \d{4}-\d\d-\d\dT00:00:00Z$/)
    const days = (Date.parse(expires.slice('Expires: '.length)) - app.clock.now()) / 86_400_000
    expect(days).toBeGreaterThan(178)
    expect(days).toBeLessThan(365)
  }
})

test('the contact stays valid as long as the server runs', async () => {
  app.clock.advance(400 * 86_400_000)
  const text = await (await fetch(`${app.controlPlane}${PATH}`)).text()
  const [, expires = ''] = /Expires: (.*)/.exec(text) ?? []
  expect(Date.parse(expires)).toBeGreaterThan(app.clock.now())
})

test('without the setting, no contact is published', async () => {
  const silent = await startTestApp()
  for (const listener of [silent.controlPlane, silent.resolver])
    expect((await fetch(`${listener}${PATH}`)).status).toBe(404)
  await silent.stop()
})

test.each([
  'security@example.com',
  'http://example.com/report',
  'mailto:',
  'mailto:a@example.com\nExpires: 2999-01-01T00:00:00Z',
  'javascript:alert(1)',
])('%p is not a contact', (contact) => {
  const keys = { SECRET_KEY: '', ENCRYPTION_KEY: '' }
  expect(() => readConfig({ SECURITY_CONTACT: contact }, () => keys)).toThrow(ConfigError)
  const { SECURITY_CONTACT } = readConfig({ SECURITY_CONTACT: 'tel:+1-201-555-0123' }, () => keys)
  expect(SECURITY_CONTACT).toEqual(['tel:+1-201-555-0123'])
})
