// tier: quick
/** The keyring of the operating system, with programs that replace it: absent, locked, hanging, and with short lines. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openKeyring } from '../../src/cli/terminal/keyring.ts'
import { freshEmail, sharedApp } from '../support/app.ts'
import { FakeTimers } from '../support/fake_timers.ts'
import { until } from '../support/until.ts'
import { openTerminal, PASSWORD, type Terminal } from './person.ts'

let folder: string
let env: Record<string, string>
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cr-keyring-'))
  mkdirSync(join(folder, 'entries'))
  env = {
    PATH: `${folder}:${process.env.PATH}`,
    DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere',
    ENTRIES: join(folder, 'entries'),
  }
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function program(name: string, script: string): void {
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
}

/** Behaves like `secret-tool`: the last argument is the account. */
const SECRET_TOOL = `for last; do :; done
case "$1" in
  lookup) [ -e "$ENTRIES/$last" ] && cat "$ENTRIES/$last" || exit 1;;
  store) cat > "$ENTRIES/$last";;
  clear) rm -f "$ENTRIES/$last";;
esac`

/** Behaves like `security` of macOS: lines of at most 4,096 bytes. */
const SECURITY = `case "$1" in
  -i) line=$(head -c 4096); set -- $line; printf %s "$8" > "$ENTRIES/$6";;
  find-generic-password) [ -e "$ENTRIES/$5" ] && cat "$ENTRIES/$5" || exit 44;;
  delete-generic-password) rm "$ENTRIES/$5" 2> /dev/null || exit 44;;
esac`

const complaining = (text: string) => `echo 'secret-tool: ${text}' >&2; exit 1`

describe('Secret Service', () => {
  test('the keyring stores an item and returns it', async () => {
    program('secret-tool', SECRET_TOOL)
    const keyring = await openKeyring(env, 'session')
    expect(await keyring?.read()).toBeNull()
    await keyring?.write('{"kept":1}')
    expect(await keyring?.read()).toBe('{"kept":1}')
    await keyring?.clear()
    expect(await keyring?.read()).toBeNull()
  })

  test.each([
    ['there is no bus', {}, SECRET_TOOL],
    [
      'no service keeps secrets',
      { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' },
      complaining('The name org.freedesktop.secrets was not provided by any .service files'),
    ],
  ])('a Secret Service counts as absent if %s', async (_, bus, script) => {
    program('secret-tool', script)
    const { PATH = '', ENTRIES = '' } = env
    expect(await openKeyring({ PATH, ENTRIES, ...bus }, 'session')).toBeNull()
  })

  test('a locked Secret Service is an error, and not a missing keyring', async () => {
    program('secret-tool', complaining('Cannot get secret of a locked object'))
    expect(openKeyring(env, 'session')).rejects.toMatchObject({
      code: 'keyring_unavailable',
      message: expect.stringContaining('Cannot get secret of a locked object'),
    })
  })

  test('a Secret Service that hangs is an error after its limit', async () => {
    program('secret-tool', 'exec sleep 1000')
    const timers = new FakeTimers()
    const opening = openKeyring(env, 'session', { timers }).catch((error: unknown) => error)
    await until(() => timers.pending > 0)
    await timers.advance(4_500)
    expect(await opening).toMatchObject({
      code: 'keyring_unavailable',
      message: expect.stringContaining('secret-tool did not respond within 4.5 seconds'),
    })
  })

  test('a Secret Service that loses a stored item is an error', async () => {
    program('secret-tool', 'cat > /dev/null; exit 0')
    const keyring = await openKeyring(env, 'session')
    expect(keyring?.write('text')).rejects.toMatchObject({ code: 'keyring_unavailable' })
  })
})

describe('the macOS keychain', () => {
  const open = () => openKeyring(env, 'session', { platform: 'darwin' })
  const long = JSON.stringify({ tokens: 'ä'.repeat(9_000) })

  test('the keychain keeps a session that is longer than a line of its program', async () => {
    program('security', SECURITY)
    const keyring = await open()
    await keyring?.write(long)
    expect(await (await open())?.read()).toBe(long)
    await keyring?.write(`${long} `)
    expect(await keyring?.read()).toBe(`${long} `)
  })

  test('the keychain keeps no part of a replaced or cleared item', async () => {
    program('security', SECURITY)
    const keyring = await open()
    await keyring?.write(long)
    await keyring?.write('short')
    expect([await keyring?.read(), readdirSync(env.ENTRIES ?? '')]).toEqual(['short', ['session']])
    await keyring?.write(long)
    await keyring?.clear()
    expect([await keyring?.read(), readdirSync(env.ENTRIES ?? '')]).toEqual([null, []])
  })

  test('a locked keychain is an error', async () => {
    program('security', 'echo "security: User interaction is not allowed." >&2; exit 36')
    const keyring = await open()
    expect(keyring?.read()).rejects.toMatchObject({
      code: 'keyring_unavailable',
      message: expect.stringContaining('User interaction is not allowed'),
    })
  })
})

describe('every command', () => {
  let ada: Terminal
  let email: string
  beforeAll(async () => {
    email = freshEmail()
    ada = await openTerminal(await sharedApp())
  })
  afterAll(() => ada.remove())

  test('every command reports a locked keyring, and finds the session again once it is unlocked', async () => {
    program('secret-tool', SECRET_TOOL)
    const entered = await ada.run(['register', email, '--password-stdin'], {
      stdin: `${PASSWORD}\n`,
      env,
    })
    expect(entered.code).toBe(0)
    program('secret-tool', complaining('Cannot get secret of a locked object'))
    for (const args of [
      ['whoami'],
      ['secrets', 'list'],
      ['project', 'list'],
      ['account', 'rotate-keys', '--yes'],
    ]) {
      const { code, err } = await ada.run([...args, '--json'], { env })
      expect([code, JSON.parse(err).error.code]).toEqual([3, 'keyring_unavailable'])
    }
    program('secret-tool', SECRET_TOOL)
    expect((await ada.run(['whoami'], { env })).code).toBe(0)
  })
})
