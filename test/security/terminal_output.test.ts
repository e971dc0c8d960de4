// tier: quick
/** Answers of APIs and values of other people send no escapes to a terminal. A pipe and a file get each byte. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mintToken } from '../../src/core/crypto/token.ts'
import { answering } from '../cli/answering.ts'
import { openAccount, openTerminal, type Terminal } from '../cli/person.ts'
import { sharedApp, type TestApp } from '../support/app.ts'

const ESCAPES = '\x1b]0;title\x07\x1b[31mred\x1b[2J\x9b1m\rover\u202e'
const SHOWN = '?]0;title??[31mred?[2J?1m?over?'
const NOTE =
  'Control and invisible characters are shown as ?. Pipe the output or write it to a file for the original.'

describe('call', () => {
  let answer: Record<string, unknown> = {}
  let calls = 0
  const resolver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => {
      calls += 1
      return Response.json({ status_code: 200, headers: {}, redacted: false, ...answer })
    },
  })
  const { text: token } = mintToken('agt')
  let ada: Terminal
  beforeAll(async () => {
    ada = await openTerminal({ controlPlane: resolver.url.origin, resolver: resolver.url.origin })
  })
  afterAll(() => {
    ada.remove()
    resolver.stop(true)
  })

  const env = () => ({
    HOME: ada.home,
    SERVICE_TOKEN: token,
    SERVICE_SERVER_URL: resolver.url.origin,
    SERVICE_RESOLVER_URL: resolver.url.origin,
  })
  const line = (...options: string[]) => ['call', 'https://api.example/', ...options]
  const onTerminal = (...options: string[]) =>
    answering(line(...options), { cwd: ada.cwd, env: env() })
  const inPipe = (...options: string[]) => ada.run(line(...options), { env: env() })

  test('call escapes text and headers on a terminal with one notice', async () => {
    answer = { headers: { 'x-name': ESCAPES }, body: `Größe\r\n\t${ESCAPES}` }
    expect(await onTerminal('-i')).toEqual({
      code: 0,
      screen: `200\nx-name: ${SHOWN}\n\n${NOTE}\nGröße\n\t${SHOWN}`,
    })
  })

  test('call prints ordinary text on a terminal unchanged', async () => {
    answer = { body: '{"name":"漢字 👨‍👩‍👧"}\r\n' }
    expect(await onTerminal()).toEqual({ code: 0, screen: '{"name":"漢字 👨‍👩‍👧"}\n' })
  })

  test('call prints JSON that has the same content and no control characters', async () => {
    answer = { body: ESCAPES, headers: { 'x-name': ESCAPES } }
    const { screen } = await onTerminal('--json')
    expect(JSON.parse(screen)).toMatchObject(answer)
    expect(screen).not.toMatch(/[^\P{Cc}\n]|\u202e/u)
  })

  const BYTES = Uint8Array.of(0xff, 0x1b, 0x5b, 0x32, 0x4a, 0)
  const binary = { body: BYTES.toBase64(), body_encoding: 'base64' }

  test('call does not print binary on a terminal, and names the two ways to get it', async () => {
    answer = binary
    expect(await onTerminal()).toEqual({
      code: 0,
      screen:
        'The response has 6 bytes that are not UTF-8 text, so it is not printed to the terminal. Use `--output FILE` or a pipe.\n',
    })
  })

  test('call escapes text that the resolver sent as base64', async () => {
    answer = { body: Buffer.from(`${ESCAPES}\n`).toString('base64'), body_encoding: 'base64' }
    expect((await onTerminal()).screen).toBe(`${SHOWN}\n${NOTE}\n`)
  })

  test('call writes every byte to a pipe', async () => {
    answer = { headers: { 'x-name': ESCAPES }, body: `\r\n${ESCAPES}` }
    const out = `200\nx-name: ${ESCAPES}\n\n\r\n${ESCAPES}`
    expect(await inPipe('-i')).toEqual({ code: 0, out, err: '' })
    answer = binary
    expect(await inPipe()).toEqual({ code: 0, out: Buffer.from(BYTES).toString(), err: '' })
  })

  test('call writes every byte to the file of --output', async () => {
    answer = binary
    expect(await onTerminal('--output', 'answer.bin')).toEqual({
      code: 0,
      screen: '6 bytes written to answer.bin (readable only by you).\n',
    })
    expect(new Uint8Array(readFileSync(join(ada.cwd, 'answer.bin')))).toEqual(BYTES)
    const { out } = await inPipe('-o', 'other.bin', '--json')
    expect(JSON.parse(out)).toEqual({
      status_code: 200,
      headers: {},
      redacted: false,
      file: 'other.bin',
      bytes: 6,
    })
  })

  test.each([
    ['exists', 'kept.txt', 'kept.txt exists; nothing was sent'],
    ['is in no folder', 'missing/answer', 'the folder missing does not exist'],
  ])('no call is made when the file of --output %s', async (_, file, problem) => {
    writeFileSync(join(ada.cwd, 'kept.txt'), 'kept')
    const before = calls
    const { code, err } = await inPipe('-o', file)
    expect([code === 0, err]).toEqual([false, expect.stringContaining(problem)])
    expect([calls, readFileSync(join(ada.cwd, 'kept.txt'), 'utf8')]).toEqual([before, 'kept'])
  })

  test('call replaces the file of --output with --force', async () => {
    writeFileSync(join(ada.cwd, 'kept.txt'), 'kept')
    answer = { body: 'new' }
    expect(await inPipe('-o', 'kept.txt', '--force')).toMatchObject({ code: 0 })
    expect(readFileSync(join(ada.cwd, 'kept.txt'), 'utf8')).toBe('new')
  })
})

describe('a value that another person stored', () => {
  let app: TestApp
  let ada: Terminal
  beforeAll(async () => {
    app = await sharedApp()
    ada = await openAccount(app, 'ada@escapes.example')
    await ada.must('init', 'payments')
    await ada.run(['secrets', 'set', 'NOTE', '--stdin', '--plain'], { stdin: ESCAPES })
    ada.write('template', 'note = {{ NOTE }}\n')
  })
  afterAll(() => ada.remove())

  const commands = [
    ['secrets', 'get', 'NOTE'],
    ['secrets', 'pull', '-'],
    ['secrets', 'pull', '-', '--format', 'json'],
    ['inject', '-i', 'template'],
  ]
  test.each(commands.map((command) => [command.join(' '), command] as const))(
    '`%s` sends no escapes to a terminal, and all bytes to a pipe',
    async (_, command) => {
      const env = {
        HOME: ada.home,
        SERVICE_SERVER_URL: app.controlPlane,
        SERVICE_RESOLVER_URL: app.resolver,
      }
      const { code, screen } = await answering(command, { cwd: ada.cwd, env })
      expect([code, screen]).toEqual([0, expect.stringContaining('[31mred')])
      expect(screen).not.toMatch(/[^\P{Cc}\t\n]|\u202e/u)
      const { out } = await ada.run(command, { reveals: true })
      // Formats that have their own escapes have nothing to replace.
      expect(out).toContain(screen.includes('?[31mred') ? '\x1b[31mred' : '[31mred')
    },
  )
})

/** Commands that write without `Output`. Their output has no text of other people, or escapes it. */
const PAST_OUTPUT = [
  'cli/commands/machine/help.ts',
  'cli/commands/machine/version.ts',
  'cli/commands/server/health.ts',
  'cli/commands/server/keygen.ts',
  'cli/commands/server/settings.ts',
  'cli/commands/server/upgrade.ts',
  'cli/commands/use/mcp.ts',
]

test('commands write to standard output by Output, which protects terminals', async () => {
  const root = new URL('../../src/', import.meta.url).pathname
  const found: string[] = []
  for await (const path of new Bun.Glob('cli/commands/**/*.ts').scan(root)) {
    if (/\bstdout\b/.test(await Bun.file(join(root, path)).text())) found.push(path)
  }
  expect(found.sort()).toEqual(PAST_OUTPUT)
})
