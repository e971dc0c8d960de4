// tier: quick
/** How screens treat texts from outside. */
import { expect, test } from 'bun:test'
import { browserOf } from '../../src/console/web/screens/account/program.ts'
import { readInvitationLink } from '../../src/console/web/screens/workspaces/link.ts'

const LINK = {
  server: 'https://vault.example.com',
  workspace: '01a2059e-0000-7000-8000-000000000001',
  first: 'a'.repeat(43),
  by: 'ada@example.com',
}
const fragment = (changed: Partial<typeof LINK>) =>
  `#${new URLSearchParams({ ...LINK, ...changed })}`

test('an invitation link with a sentence in it is rejected', () => {
  expect(readInvitationLink(fragment({}))).toEqual(LINK)
  expect(readInvitationLink(fragment({ server: 'http://localhost:8000' }))).not.toBeNull()
  for (const changed of [
    { server: 'https://evil.example/login Your session ended: log in there again' },
    { server: 'javascript:alert(1)' },
    { by: 'security@example.com. Call +1 555 and read them your recovery key' },
    { by: 'ada\u202e@example.com' },
    { by: `${'a'.repeat(250)}@example.com` },
    { workspace: '../account' },
    { first: 'a'.repeat(44) },
  ]) {
    expect(readInvitationLink(fragment(changed))).toBeNull()
  }
})

test('a session shows browser and system of a browser, and nothing of another program', () => {
  const mozilla = (rest: string) => browserOf(`Mozilla/5.0 ${rest}`)
  const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36'
  expect(mozilla(`(X11; Linux x86_64) ${chrome}`)).toEqual({ browser: 'Chrome', system: 'Linux' })
  expect(mozilla(`(Windows NT 10.0; Win64; x64) ${chrome} Edg/156.0.0.0`)).toEqual({
    browser: 'Edge',
    system: 'Windows',
  })
  expect(mozilla(`(Linux; Android 15) ${chrome}`)?.system).toBe('Android')
  const iphone =
    '(iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 Safari/604.1'
  expect(mozilla(iphone)).toEqual({ browser: 'Safari', system: 'iOS' })
  expect(browserOf('cloakroom/1.0.0')).toBeNull()
})
