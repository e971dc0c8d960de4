// tier: quick
/** The self-checks of the machine: each passes here, and each can fail. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { createAuthority } from '../../../src/cli/demo/certificates.ts'
import { Failed, runChecks, warn } from '../../../src/operator/checks/check.ts'
import { checkFiles } from '../../../src/operator/checks/files.ts'
import { checkLimits, type Limits } from '../../../src/operator/checks/limits.ts'
import { SELF_CHECK } from '../../../src/operator/checks/list.ts'
import { type Certificate, checkTls, HOST } from '../../../src/operator/checks/tls.ts'
import { checkVectors, primitives } from '../../../src/operator/checks/vectors.ts'
import { textOf } from '../../docs/documents.ts'

const place = mkdtempSync(join(tmpdir(), 'cr-self-'))
afterAll(() => rmSync(place, { recursive: true, force: true }))

describe('vectors', () => {
  test('all checks of the machine compute the expected results', async () => {
    expect(await checkVectors()).toBe('9 published test vectors passed')
  })

  const wrong = new Uint8Array(32)
  test.each([
    ['SHA-256', { sha256: () => wrong }],
    ['HMAC (RFC 4231)', { hmac: () => wrong }],
    ['HKDF (RFC 5869)', { hkdf: () => wrong }],
    ['AES-256-GCM', { sealGcm: () => wrong }],
    ['AES-256-GCM, opened', { openGcm: () => null }],
    ['AES-256-GCM, changed', { openGcm: () => new Uint8Array(16) }],
    ['X25519 (RFC 7748)', { x25519: () => ({ shared: wrong, publicKey: wrong }) }],
    ['Ed25519 (RFC 8032)', { sign: async () => wrong }],
    ['Argon2id (RFC 9106)', { argon2id: async () => wrong }],
  ])('%s with a wrong result fails by its name', async (name, other) => {
    await expect(checkVectors({ ...primitives, ...other })).rejects.toThrow(
      `wrong results on this machine: ${name}`,
    )
  })
})

describe('tls', () => {
  let certificate: Certificate

  beforeAll(async () => {
    const authority = await createAuthority('test')
    certificate = { authority: authority.certificate, ...(await authority.issue([HOST])) }
  })

  /** Accepts any server, under any name. */
  const careless = ({ port }: { port: number }) =>
    new Promise<void>((resolve, reject) => {
      const options = { port, host: '127.0.0.1', rejectUnauthorized: false }
      const socket = connect(options, () => resolve())
      socket.on('error', reject).on('secureConnect', () => socket.destroy())
    })

  test('an outbound call accepts only TLS 1.3 under the right name', async () => {
    expect(await checkTls(certificate)).toContain('require TLS 1.3')
  })

  test('an outbound path that accepts every certificate fails', async () => {
    await expect(checkTls(certificate, { requests: careless })).rejects.toThrow(
      'requests accepts TLS 1.2, requests accepts another name',
    )
  })

  test('an outbound path without a connection fails', async () => {
    const nowhere = () => Promise.reject(new Error('no'))
    await expect(checkTls(certificate, { connections: nowhere })).rejects.toThrow(
      'connections rejects TLS 1.3',
    )
  })
})

describe('files', () => {
  const data = join(place, 'data')
  const authorities = join(place, 'ca.pem')
  const places = {
    DB_HOST: undefined,
    DATA_DIR: data,
    SIGNED_STATE_FILE: join(data, 'signed_state.sqlite'),
    RESOLVER_CA_FILE: authorities,
  }

  beforeAll(() => {
    mkdirSync(data, { mode: 0o700 })
    for (const name of ['keys.env', 'signed_state.sqlite'])
      writeFileSync(join(data, name), '', { mode: 0o600 })
    writeFileSync(authorities, '-----BEGIN CERTIFICATE-----', { mode: 0o644 })
  })

  test('private files pass, and so do files that do not exist yet', () => {
    expect(checkFiles(places)).toContain('only the owner can read')
    expect(checkFiles({ ...places, DATA_DIR: join(place, 'later') })).toContain('only the owner')
  })

  test.each([
    [data, 0o700, 0o750, `${data} can be read or written by other users: chmod 0700 ${data}`],
    [
      join(data, 'keys.env'),
      0o600,
      0o604,
      'keys.env can be read or written by other users: chmod 0600',
    ],
    [join(data, 'signed_state.sqlite'), 0o600, 0o660, 'signed_state.sqlite can be read or written'],
    [authorities, 0o644, 0o664, 'ca.pem can be written by other users: chmod go-w'],
  ])('%s must keep its private mode', (path, right, wrong, words) => {
    chmodSync(path, wrong)
    expect(() => checkFiles(places)).toThrow(words)
    chmodSync(path, right)
    expect(checkFiles(places)).toContain('only the owner can read')
  })

  test('files that belong to another user fail, because a server of this user could not use them', () => {
    const { getuid } = process
    process.getuid = () => 4242
    expect(() => checkFiles(places)).toThrow(
      /belongs to user \d+: run this command and the server as/,
    )
    if (getuid) process.getuid = getuid
  })

  test('an invalid file of authorities fails', () => {
    const other = { ...places, RESOLVER_CA_FILE: join(place, 'none.pem') }
    expect(() => checkFiles(other)).toThrow('RESOLVER_CA_FILE: is not a readable PEM file')
  })
})

describe('limits', () => {
  const wanted = { DB_HOST: undefined, ROLE: 'all' as const, RESOLVER_CONCURRENCY: 1000 }
  const enough: Limits = {
    openFiles: 4096,
    freeBytes: 2 ** 30,
    temporary: { path: '/tmp', isWritable: true },
  }

  test('sufficient resources pass, and so do figures that the system does not report', () => {
    expect(checkLimits(wanted, enough)).toBe('4096 open files, 1024 MiB free')
    expect(checkLimits(wanted, { ...enough, openFiles: null, freeBytes: null })).toContain(
      'unknown',
    )
    expect(
      checkLimits({ ...wanted, ROLE: 'control-plane' }, { ...enough, openFiles: 1024 }),
    ).toContain('1024')
  })

  test.each([
    [{ openFiles: 1024 }, 'the limit is 1024 open files, but 2200 may be needed'],
    [
      { freeBytes: 95 * 2 ** 20 },
      'DATA_DIR has 95 MiB of free space; below 96 MiB, writes are refused',
    ],
    [{ temporary: { path: '/x', isWritable: false } }, '/x is not writable'],
  ])('insufficient resources fail: %p', (less, words) => {
    expect(() => checkLimits(wanted, { ...enough, ...less })).toThrow(words)
  })
})

test('docs/guides/monitoring.md lists each self-check, in order', () => {
  const [, table = ''] =
    /^### Check before a start\n.*?\n\n(\|.*?)\n\n/ms.exec(textOf('docs/guides/monitoring.md')) ??
    []
  const listed = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name = '']) => name)
  const { nothing, settings } = SELF_CHECK
  expect([...nothing, ...settings].map(({ name }) => name)).toEqual(listed)
})

test('a failing check does not stop the others', async () => {
  const docs = 'docs/guides/monitoring.md#health'
  const fails = () => {
    throw new Failed('broken')
  }
  const checks = [
    { name: 'one', docs, run: fails },
    { name: 'two', docs, run: () => 'well' },
    { name: 'three', docs, run: () => warn('late', 'hurry') },
  ]
  expect(await runChecks(checks, {}, String)).toEqual([
    { check: 'one', level: 'fail', said: 'Error: broken', todo: 'follow the message', docs },
    { check: 'two', level: 'ok', said: 'well', todo: null, docs },
    { check: 'three', level: 'warn', said: 'late', todo: 'hurry', docs },
  ])
})
