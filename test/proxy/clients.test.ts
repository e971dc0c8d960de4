// tier: all
/** Common programs, unchanged, behind the proxy: their environment has its address and its bundle. */
import { afterAll, expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isPresent } from '../support/needs.ts'
import { requires } from '../support/requires.ts'
import { type Accepted, accepting, closing, frame } from '../support/socket_upstream.ts'
import { answerOf } from '../support/upstream.ts'
import { watched } from '../support/watched.ts'
import { KEY, type OpenProxy, openProxyStage, REVEALED, runWith, startWith } from './stage.ts'

const { describe, test } = requires('curl', 'git', 'node', 'python-requests')

const stage = await openProxyStage()
afterAll(stage.stop)

stage.upstream.on('/echo', ({ header }, wire) => {
  const sent = header('authorization') ?? ''
  wire.write(answerOf(200, { 'content-type': 'text/plain', 'x-echo': sent }, `got ${sent}`))
})

/** Published and cloned repositories contain the value. */
const repositories = join(stage.directory, REVEALED)
if (isPresent('git')) await publishRepository()

const proxies = { local: await stage.open('local'), remote: await stage.open('remote') }
const ways = Object.entries(proxies)

function lastCredential(): string | undefined {
  return stage.upstream.received.at(-1)?.header('authorization')
}

/** The Python with requests: Debian's own, if another one comes first in the path. */
const python =
  ['python3', '/usr/bin/python3'].find(
    (path) => watched(Bun.spawnSync([path, '-c', 'import requests'], { stderr: 'ignore' })).success,
  ) ?? 'python3'

const nodeProgram = join(stage.directory, 'child.js')
await Bun.build({
  entrypoints: [join(import.meta.dir, 'child.ts')],
  target: 'node',
  format: 'esm',
  outdir: stage.directory,
})

/** Greets with the credential, answers one message, and lets the client close. */
async function chat({ request, wire, next }: Accepted): Promise<void> {
  wire.write(frame(1, `welcome, ${request.header('authorization')}`))
  const { payload } = await next()
  wire.write(frame(1, `${payload} to you`))
  await next()
  wire.end(closing(1000))
}

/** A bare repository with one commit, served as files: git's dumb protocol, behind a password. */
async function publishRepository(): Promise<void> {
  const [work, bare] = [join(repositories, 'work'), join(repositories, 'repo.git')]
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
  const git = (...args: string[]) => Bun.$`git ${args}`.quiet()
  await git('init', '-q', work)
  await Bun.write(join(work, 'hello.txt'), `hello, ${KEY}`)
  await git('-C', work, 'add', 'hello.txt')
  await git('-C', work, ...identity, 'commit', '-q', '-m', 'first')
  await git('clone', '-q', '--bare', work, bare)
  await git('-C', bare, 'update-server-info')
  const files = await Array.fromAsync(new Bun.Glob('**/*').scan({ cwd: bare, dot: true }))
  const missing = ['objects/info/alternates', 'objects/info/http-alternates', 'objects/info/packs']
  for (const name of [...missing, ...files]) {
    const file = Bun.file(join(bare, name))
    const bytes = (await file.exists()) ? await file.bytes() : null
    stage.upstream.on(`/repo.git/${name}`, ({ header }, wire) => {
      const isKnown = header('authorization') === `Basic ${btoa(`git:${KEY}`)}`
      if (!isKnown) wire.write(answerOf(401, { 'www-authenticate': 'Basic realm="git"' }))
      else wire.write(answerOf(bytes ? 200 : 404, {}, bytes ?? ''))
    })
  }
}

async function node(proxy: OpenProxy, mode: string, url: string): Promise<unknown> {
  const ran = await runWith(proxy, ['node', nodeProgram, mode, url, 'SVC_SECRET_KEY'])
  if (ran.code !== 0) throw new Error(ran.err)
  return JSON.parse(ran.out)
}

describe.each(ways)('behind the %s proxy', (way, proxy) => {
  test('curl sends the value and receives none', async () => {
    const ran = await runWith(proxy, [
      ...['curl', '-sSi', '-H', 'Authorization: Bearer SVC_SECRET_KEY'],
      stage.url('/echo?page=2'),
    ])
    expect({ code: ran.code, err: ran.err }).toEqual({ code: 0, err: '' })
    expect(ran.out).toContain('HTTP/1.1 200 OK\r\n')
    expect(ran.out).toContain('\r\nx-echo: Bearer SVC_SECRET_KEY\r\n')
    expect(ran.out).toEndWith('\r\n\r\ngot Bearer SVC_SECRET_KEY')
    expect(ran.out).not.toContain(KEY)
    expect(lastCredential()).toBe(`Bearer ${KEY}`)
    expect(stage.upstream.received.at(-1)?.path).toBe('/echo?page=2')
  })

  test('curl uploads more than a buffer holds, with Expect: 100-continue', async () => {
    const body = 'x'.repeat(3_000_000)
    const path = join(stage.directory, 'upload')
    await Bun.write(path, body)
    const ran = await runWith(proxy, ['curl', '-sS', '-T', path, stage.url('/upload')])
    expect({ code: ran.code, out: ran.out }).toEqual({ code: 0, out: '{"ok":true}' })
    expect(stage.upstream.received.at(-1)?.body.length).toBe(body.length)
  })

  test('curl prints an event before the upstream sends the next one', async () => {
    const goOn = Promise.withResolvers<void>()
    stage.upstream.on('/events', async (_, wire) => {
      const headers = 'Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n'
      wire.write(`HTTP/1.1 200 OK\r\n${headers}\r\n9\r\ndata: 1\n\n\r\n`)
      await goOn.promise
      wire.write('9\r\ndata: 2\n\n\r\n0\r\n\r\n')
    })
    const curl = startWith(proxy, [
      ...['curl', '-sSN', '-H', 'Authorization: Bearer SVC_SECRET_KEY'],
      stage.url('/events'),
    ])
    let shown = ''
    for await (const chunk of curl.stdout) {
      shown += Buffer.from(chunk).toString()
      if (shown === 'data: 1\n\n') goOn.resolve()
    }
    expect({ code: await curl.exited, shown }).toEqual({ code: 0, shown: 'data: 1\n\ndata: 2\n\n' })
  })

  test('curl logs in with a Basic password that only the proxy has', async () => {
    const ran = await runWith(proxy, [
      'curl',
      '-sS',
      '-u',
      'ada:SVC_SECRET_LOGIN',
      stage.url('/echo'),
    ])
    expect(ran.out).toBe(`got Basic ${btoa('ada:SVC_SECRET_LOGIN')}`)
    expect(lastCredential()).toBe(`Basic ${btoa('ada:pass:word')}`)
  })

  test('fetch of Node.js sends the value and receives none', async () => {
    expect(await node(proxy, 'fetch', stage.url('/echo'))).toMatchObject({
      status: 200,
      headers: { 'x-echo': 'Bearer SVC_SECRET_KEY' },
      pieces: [['got Bearer SVC_SECRET_KEY', expect.any(Number)]],
    })
    expect(lastCredential()).toBe(`Bearer ${KEY}`)
  })

  test("a WebSocket of Node.js carries messages both ways, the upstream's redacted", async () => {
    stage.upstream.on(
      '/socket',
      accepting(chat, () => 'Sec-WebSocket-Protocol: superchat\r\n'),
    )
    expect(await node(proxy, 'socket', stage.url('/socket').replace('https', 'wss'))).toEqual({
      protocol: 'superchat',
      messages: ['welcome, Bearer SVC_SECRET_KEY', 'hello to you'],
      code: 1000,
    })
    expect(lastCredential()).toBe(`Bearer ${KEY}`)
  })

  test('a WebSocket that the upstream closes is closed with its code and reason', async () => {
    stage.upstream.on(
      '/closing',
      accepting(
        ({ wire }) => void wire.end(closing(4001, 'enough')),
        () => '',
      ),
    )
    const url = stage.url('/closing').replace('https', 'wss')
    expect(await node(proxy, 'socket', url)).toMatchObject({ messages: [], code: 4001 })
  })

  test('a WebSocket that the upstream rejects is rejected', async () => {
    const url = stage.url('/no-socket').replace('https', 'wss')
    expect(await node(proxy, 'socket', url)).toEqual({ messages: [], failed: true })
  })

  test('a client that offers only HTTP/2 gets it', async () => {
    expect(await node(proxy, 'http2', stage.url('/echo'))).toEqual({
      protocol: 'h2',
      status: 200,
      body: 'got Bearer SVC_SECRET_KEY',
    })
  })

  test('the requests library of Python sends the value and receives none', async () => {
    const program = [
      'import requests, sys',
      "answer = requests.get(sys.argv[1], headers={'Authorization': 'Bearer SVC_SECRET_KEY'})",
      "print(answer.status_code, answer.text, answer.headers['x-echo'])",
    ].join('\n')
    const ran = await runWith(proxy, [python, '-c', program, stage.url('/echo')])
    expect(ran).toEqual({
      code: 0,
      out: '200 got Bearer SVC_SECRET_KEY Bearer SVC_SECRET_KEY\n',
      err: '',
    })
    expect(lastCredential()).toBe(`Bearer ${KEY}`)
  })

  test('git clones over HTTPS with a password that only the proxy has', async () => {
    const clone = join(repositories, `clone-${way}`)
    const url = stage.url('/repo.git').replace('https://', 'https://git:SVC_SECRET_KEY@')
    const ran = await runWith(proxy, ['git', 'clone', '-q', url, clone], {
      HOME: stage.directory,
      GIT_TERMINAL_PROMPT: '0',
    })
    expect(ran).toEqual({ code: 0, out: '', err: '' })
    // Objects are compressed, so values in them are not recognised, and their hashes still match.
    expect(readFileSync(join(clone, 'hello.txt'), 'utf8')).toBe(`hello, ${KEY}`)
  })
})
