// tier: all
/**
 * `cloakroom proxy` the way people start it, with an empty home folder and a server that may be unavailable. Tests
 * that end the proxy with a signal start the executable.
 */
import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { OUTBOX_FILE } from '../../src/proxy/outbox/database.ts'
import { executable } from '../binary/executable.ts'
import { openAccount, type Terminal } from '../cli/person.ts'
import { API, openStage, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'
import { answerOf } from '../support/upstream.ts'
import { watched } from '../support/watched.ts'

const { afterAll, beforeAll, describe, test } = requires('curl')

const KEY = marked('sk_live_0123456789abcdef')
let stage: Stage
let server: Awaited<ReturnType<typeof openDoor>>
let ada: Terminal
let environment: Record<string, string>

beforeAll(async () => {
  stage = await openStage()
  server = await openDoor(stage.app.controlPlane)
  stage.upstream.on('/echo', ({ header }, wire) => {
    wire.write(answerOf(200, {}, `got ${header('authorization')}`))
  })
  ada = await openAccount(
    { controlPlane: server.origin, resolver: stage.app.resolver },
    'ada@example.com',
  )
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `KEY=${KEY}`)
  const policy = ['--policy', '{"allowed_locations":["query"]}']
  await ada.must('secrets', 'set', 'SHOWN=in the query', ...policy)
  await ada.must('allowlist', 'add', stage.authorityOf())
  environment = {
    RESOLVER_HOSTS: `${API}=127.0.0.1`,
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
    RESOLVER_CA_FILE: stage.caFile,
  }
})
afterAll(async () => {
  ada.remove()
  server.close()
  await stage.stop()
})

const echo = (...more: string[]) => [
  ...['curl', '-sS', '-H', 'Authorization: Bearer SVC_SECRET_KEY', ...more],
  stage.url('/echo'),
]

let counter = 0
async function anAgent(): Promise<{ name: string; token: string }> {
  const name = `helper-${counter++}`
  const { token } = (await ada.json('agent', 'create', name)) as { token: string }
  return { name, token }
}

function proxyWith(args: string[], env: Record<string, string> = {}) {
  return ada.run(['proxy', ...args], { env: { ...environment, ...env } })
}

describe('the proxy with a command', () => {
  test('the value is inserted and redacted for a command without any proxy settings', async () => {
    expect(await proxyWith(['--', ...echo()])).toEqual({
      code: 0,
      out: 'got Bearer SVC_SECRET_KEY',
      err: '',
    })
    expect(stage.upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${KEY}`)
  })

  test("the proxy's exit code and signal are the command's", async () => {
    expect((await proxyWith(['--', 'sh', '-c', 'exit 7'])).code).toBe(7)
    expect((await proxyWith(['--', 'sh', '-c', 'kill -TERM $$'])).code).toBe(143)
    expect(await proxyWith(['--', 'no-such-program'])).toMatchObject({
      code: 127,
      err: 'cloakroom: program not found: no-such-program (program_not_found)\n→ check the name and PATH\n',
    })
  })

  test("the command's environment has the proxy and its authority, and no secret", async () => {
    const { out } = await proxyWith(['--strict', '--', 'env'], {
      NO_PROXY: 'internal.example',
      JAVA_TOOL_OPTIONS: '-Down=1',
      PHP_INI_SCAN_DIR: '/own',
    })
    const found = Object.fromEntries(
      out
        .trim()
        .split('\n')
        .map((line) => line.split(/=(.*)/s)),
    )
    const bundle = String(found.SSL_CERT_FILE)
    expect(bundle).toStartWith(join(ada.home, '.config/cloakroom/proxy/runs/'))
    expect(found.HTTPS_PROXY).toMatch(/^http:\/\/cloakroom:[\w-]{32}@127\.0\.0\.1:\d+$/)
    expect(found).toMatchObject({
      https_proxy: found.HTTPS_PROXY,
      http_proxy: found.HTTPS_PROXY,
      NO_PROXY: 'localhost,127.0.0.1,::1',
      grpc_proxy: found.HTTPS_PROXY,
      no_grpc_proxy: 'localhost,127.0.0.1,::1',
      NODE_USE_ENV_PROXY: '1',
      NODE_EXTRA_CA_CERTS: bundle,
      SSL_CERT_FILE: bundle,
      REQUESTS_CA_BUNDLE: bundle,
      CURL_CA_BUNDLE: bundle,
      GIT_SSL_CAINFO: bundle,
      AWS_CA_BUNDLE: bundle,
      HTTPLIB2_CA_CERTS: bundle,
      GRPC_DEFAULT_SSL_ROOTS_FILE_PATH: bundle,
      CARGO_HTTP_CAINFO: bundle,
      npm_config_cafile: bundle,
      DENO_CERT: bundle,
      PERL_LWP_SSL_CA_FILE: bundle,
      PHP_INI_SCAN_DIR: `/own:${bundle.replace('bundle.pem', 'php')}`,
      CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE: bundle,
      CLOUDSDK_PROXY_TYPE: 'http',
      CLOUDSDK_PROXY_ADDRESS: '127.0.0.1',
      CLOUDSDK_PROXY_PORT: new URL(found.HTTPS_PROXY ?? '').port,
      CLOUDSDK_PROXY_USERNAME: 'cloakroom',
      CLOUDSDK_PROXY_PASSWORD: new URL(found.HTTPS_PROXY ?? '').password,
    })
    expect(found.JAVA_TOOL_OPTIONS).toBe(
      [
        '-Down=1',
        `"-Djavax.net.ssl.trustStore=${bundle.replace('.pem', '.jks')}"`,
        '-Djavax.net.ssl.trustStoreType=JKS',
        ...['https', 'http'].flatMap((scheme) => [
          `-D${scheme}.proxyHost=127.0.0.1`,
          `-D${scheme}.proxyPort=${new URL(found.HTTPS_PROXY ?? '').port}`,
        ]),
      ].join(' '),
    )
    expect(out).not.toContain(KEY)
  })

  test('PHP finds the bundle in its settings, and keeps its earlier settings', async () => {
    const settings = 'for f in $(echo "$PHP_INI_SCAN_DIR" | tr : " "); do cat "$f"/*.ini; done'
    const { out } = await proxyWith(['--', 'sh', '-c', settings])
    const [, bundle = ''] = /curl\.cainfo="(.*)"/.exec(out) ?? []
    expect(bundle).toMatch(/\/proxy\/runs\/[0-9a-f-]{36}\/bundle\.pem$/)
    expect(out).toBe(`curl.cainfo="${bundle}"\nopenssl.cafile="${bundle}"\n`)
    const { out: variable } = await proxyWith(['--', 'sh', '-c', 'echo "$PHP_INI_SCAN_DIR"'])
    // An empty part represents the directories of the installation (PHP manual, "The configuration file").
    expect(variable).toStartWith(':/')
  })

  test('a child program of the command needs no password, if the system shows the owner of its connection', async () => {
    const direct = `curl -sS --proxy "http://127.0.0.1:$CLOUDSDK_PROXY_PORT" ${stage.url('/echo')}`
    const { code, out, err } = await proxyWith(['--', 'sh', '-c', direct])
    if (process.platform === 'linux') expect({ code, out, err }).toMatchObject({ code: 0, err: '' })
    else expect(err).toContain('407')
  })

  test('for a program that the proxy cannot reach by variables, the output names a remedy', async () => {
    const program = (name: string, script: string) => {
      const path = join(ada.home, name)
      writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
      return path
    }
    const errOf = async (path: string) => (await proxyWith(['--', path])).err
    expect(await errOf(program('wget', 'exit 0'))).toBe(
      'cloakroom: wget reads no certificate variable: add --ca-certificate="$SSL_CERT_FILE"\n',
    )
    expect(await errOf(program('sudo', 'exit 0'))).toBe(
      'cloakroom: sudo removes these variables: add --preserve-env\n',
    )
    expect(await errOf(program('ruby', 'exit 0'))).toBe(
      'cloakroom: ruby reads only http_proxy in Net::HTTP: put env http_proxy="$HTTPS_PROXY" before it\n',
    )
    expect(await errOf(program('rclone', 'exit 0'))).toBe(
      'cloakroom: rclone fails with AWS_CA_BUNDLE: put env -u AWS_CA_BUNDLE before it\n',
    )
    const node = (version: string) => errOf(program('node', `echo ${version}`))
    expect(await node('v20.20.2')).toBe(
      'cloakroom: node v20.20.2 ignores the proxy: HTTPS_PROXY needs Node 22.21 or 24.5, or undici (EnvHttpProxyAgent)\n',
    )
    for (const version of ['v22.20.0', 'v23.11.0', 'v24.4.9'])
      expect(await node(version)).toContain(version)
    for (const version of ['v22.21.0', 'v24.5.0', 'v26.0.0']) expect(await node(version)).toBe('')
    expect(await errOf(program('curl', 'exit 0'))).toBe('')
  })

  test('output that breaks off half-way leaves nothing on the terminal, least of all the value', async () => {
    stage.upstream.on('/broken', (_, wire) => {
      // An event whose end keeps no text waiting (protocol 6.1).
      const head =
        'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked'
      wire.write(`${head}\r\n\r\nb\r\ndata: one\n\n\r\n`)
      setTimeout(() => wire.destroy(), 50)
    })
    const url = stage.url('/broken?key=SVC_SECRET_SHOWN')
    const curl = ['curl', '-s', '-H', 'X-Key: SVC_SECRET_KEY', url]
    const ran = await proxyWith(['--', ...curl])
    expect({ out: ran.out, err: ran.err }).toEqual({ out: 'data: one\n\n', err: '' })
    expect(ran.code).not.toBe(0)
    expect(stage.upstream.received.at(-1)?.path).toBe(
      '/broken?key=in+the+query'.replaceAll('+', '%20'),
    )
  })

  test('the command has a stand-in under the name of each credential, and can use it', async () => {
    const shell = `echo "$KEY"; curl -sS -H "Authorization: Bearer $KEY" ${stage.url('/echo')}`
    for (const way of [[], ['--remote', '--agent', (await anAgent()).name]]) {
      const { code, out, err } = await proxyWith([...way, '--', 'sh', '-c', shell])
      const [, standIn = ''] = /^(sk_live_\S+)\n/.exec(out) ?? []
      expect({ code, out, err }).toEqual({
        code: 0,
        out: `${standIn}\ngot Bearer ${standIn}`,
        err: '',
      })
      expect(stage.upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${KEY}`)
      expect(standIn).toHaveLength(KEY.length)
      expect(standIn).not.toBe(KEY)
    }
  })

  test('two runs have different stand-ins', async () => {
    const command = ['--', 'sh', '-c', 'echo "$KEY"']
    const [one, other] = await Promise.all([proxyWith(command), proxyWith(command)])
    expect(one.out).toMatch(/^sk_live_/)
    expect(other.out).toMatch(/^sk_live_/)
    expect(one.out).not.toBe(other.out)
  })

  test('--stand-ins none sets no variable of a credential, and --print-env prints all variables', async () => {
    const command = ['--', 'sh', '-c', 'echo "[$KEY]"']
    const without = await proxyWith(['--stand-ins', 'none', '--print-env', ...command])
    expect({ code: without.code, out: without.out }).toEqual({ code: 0, out: '[]\n' })
    expect(without.err).not.toContain('KEY=')
    expect(without.err).toMatch(/^export HTTPS_PROXY='http:/m)
    const { out, err } = await proxyWith(['--print-env', ...command])
    const [, shown = ''] = /^export KEY='(.*)'$/m.exec(err) ?? []
    expect(out).toBe(`[${shown}]\n`)
    expect(await proxyWith(['--stand-ins', 'some', ...command])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--stand-ins must be all or none'),
    })
  })

  test('settings are set unchanged, and an omitted one is named with its reason', async () => {
    const place = ['-e', 'staging']
    const steering = ['LD_PRELOAD', 'PATH', 'HTTPS_PROXY', 'SERVICE_TOKEN'].flatMap((name) => [
      '--allow-env',
      name,
    ])
    const set = (...args: string[]) => ada.must('secrets', 'set', ...place, ...steering, ...args)
    await set('--plain', 'REGION=eu-west-1', 'LD_PRELOAD=/tmp/evil.so')
    await set(
      'KEY=sk_live_staging_0123456789',
      'PATH=secret0123456789',
      'HTTPS_PROXY=abc0123456789',
    )
    await set('LISTED={"a":"b"}', 'ALSO={"c":"d"}', 'SERVICE_TOKEN=abcdefghijkl')
    const { code, out, err } = await ada.run(
      [
        ...place,
        'proxy',
        '--',
        'sh',
        '-c',
        'echo "$REGION [$LD_PRELOAD] [$SERVICE_TOKEN] $KEY $HTTPS_PROXY"',
      ],
      { env: environment },
    )
    expect(code).toBe(0)
    expect(out).toMatch(/^eu-west-1 \[\] \[\] sk_live_[\w-]+ http:\/\/cloakroom:\S+\n$/)
    expect(err.trim().split('\n').sort()).toEqual([
      'cloakroom: not set: ALSO, LISTED (JSON, so its secret part is unknown)',
      'cloakroom: not set: HTTPS_PROXY, SERVICE_TOKEN (set by the proxy itself)',
      'cloakroom: not set: LD_PRELOAD (it loads foreign code into programs through the loader or C library)',
      'cloakroom: not set: PATH (it controls which program a name runs)',
    ])
  })

  test('with a token the proxy calls through the resolver, and the command does not receive the token', async () => {
    const made = await ada.json('agent', 'create', 'bot')
    const { token } = made as { token: string }
    const env = { SERVICE_TOKEN: token }
    expect(await proxyWith(['--', ...echo()], env)).toMatchObject({
      code: 0,
      out: 'got Bearer SVC_SECRET_KEY',
    })
    expect((await proxyWith(['--', 'env'], env)).out).not.toContain(token)
    expect((await proxyWith(['--agent', 'x', '--', 'true'], env)).code).toBe(2)
  })

  test('--agent with an unknown name creates none, and lists similar ones', async () => {
    await ada.must('agent', 'create', 'claude')
    for (const way of [[], ['--remote']]) {
      expect(await proxyWith([...way, '--agent', 'cluade', '--', 'true'])).toEqual({
        code: 4,
        out: '',
        err: 'cloakroom: there is no agent cluade for this project (not_found)\n→ is it claude?\n',
      })
    }
    const agents = (await ada.json('agent', 'list')) as { name: string }[]
    expect(agents.map(({ name }) => name)).not.toContain('cluade')
  })

  test('with --agent the records carry that name, and the token of the run is revoked', async () => {
    expect((await proxyWith(['--agent', 'claude', '--', ...echo()])).code).toBe(0)
    expect((await proxyWith(['--remote', '--agent', 'claude', '--', ...echo()])).out).toBe(
      'got Bearer SVC_SECRET_KEY',
    )
    expect(await ada.json('audit', 'list', '--agent', 'claude')).toMatchObject([
      { agent_id: 'claude', source: 'resolver', decision: 'allowed', credential_ref: 'KEY' },
      { agent_id: 'claude', source: 'client', decision: 'allowed', credential_ref: 'KEY' },
    ])
    const agents = (await ada.json('agent', 'list')) as Record<string, unknown>[]
    expect(agents.find(({ name }) => name === 'claude')).toMatchObject({
      token_count: 3,
      active_token_count: 1,
    })
  })
})

describe('the authority', () => {
  test('the authority is created once, and only its owner can read the key', async () => {
    const directory = join(ada.home, '.config/cloakroom/proxy')
    const before = readFileSync(join(directory, 'ca.pem'), 'utf8')
    expect(statSync(join(directory, 'ca.key')).mode & 0o777).toBe(0o600)
    const { code, out, err } = await ada.run(['proxy', 'trust'])
    expect({ code, lines: out.match(/^export \w+/gm) }).toEqual({
      code: 0,
      lines: [
        'export SSL_CERT_FILE',
        'export CURL_CA_BUNDLE',
        'export REQUESTS_CA_BUNDLE',
        'export HTTPLIB2_CA_CERTS',
        'export AWS_CA_BUNDLE',
        'export CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE',
        'export GRPC_DEFAULT_SSL_ROOTS_FILE_PATH',
        'export GIT_SSL_CAINFO',
        'export CARGO_HTTP_CAINFO',
        'export npm_config_cafile',
        'export NODE_EXTRA_CA_CERTS',
        'export DENO_CERT',
        'export PERL_LWP_SSL_CA_FILE',
      ],
    })
    expect(err).toContain(join(directory, 'ca.pem'))
    expect(readFileSync(join(directory, 'ca.pem'), 'utf8')).toBe(before)
    expect(readFileSync(join(directory, 'bundle.pem'), 'utf8')).toContain(before.trim())
  })
})

describe('the proxy without a command', () => {
  test('the proxy without a command prints its address, and ends with a signal', async () => {
    const running = await startProxy()
    expect(running.printed).toMatchObject({
      port: expect.any(Number),
      https_proxy: expect.stringMatching(/^http:\/\/cloakroom:[\w-]{32}@127\.0\.0\.1:\d+$/),
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}$/),
    })
    running.child.kill('SIGTERM')
    expect(await running.child.exited).toBe(0)
  })

  test('a port in use is reported in a sentence', async () => {
    const taken = String(new URL(server.origin).port)
    expect(await proxyWith(['--port', taken])).toMatchObject({
      code: 1,
      err: `cloakroom: port ${taken} is taken (port_taken)\n→ choose another one with --port, or 0\n`,
    })
  })
})

describe('a server that is unavailable', () => {
  test('an unavailable server delays no call, and gets every record once, whatever happened to the proxy', async () => {
    const before = await countRecords()
    const first = await startProxy()
    expect(await callThrough(first)).toBe('got Bearer SVC_SECRET_KEY')
    server.shut()
    for (let call = 0; call < 5; call++) {
      expect(await callThrough(first)).toBe('got Bearer SVC_SECRET_KEY')
    }
    // One call is open when the proxy is killed.
    const received = Promise.withResolvers<void>()
    stage.upstream.on('/never', () => received.resolve())
    const last = fetch(`${first.printed.base_url}/${stage.authorityOf()}/never`).catch(() => null)
    await received.promise
    first.child.kill('SIGKILL')
    await first.child.exited
    await last
    expect(queued()).toBeGreaterThan(0)
    server.open()
    const second = await startProxy()
    await until(() => queued() === 0)
    second.child.kill('SIGTERM')
    await second.child.exited
    const records = (await ada.json('audit', 'list', '--limit', '500')) as Record<string, unknown>[]
    const mine = records.filter(({ source }) => source === 'client')
    expect(mine.length - before).toBe(7)
    expect(mine.filter(({ status_code }) => status_code === null)).toMatchObject([
      { target_path: '/never', decision: 'allowed' },
    ])
    expect(new Set(mine.map(({ client_id }) => client_id)).size).toBe(mine.length)
  })
})

async function countRecords(): Promise<number> {
  const records = (await ada.json('audit', 'list', '--limit', '500')) as Record<string, unknown>[]
  return records.filter(({ source }) => source === 'client').length
}

/** Records that wait for the server. */
function queued(): number {
  const path = join(ada.home, '.local/state/cloakroom/audit', OUTBOX_FILE)
  const database = new Database(path, { readwrite: true })
  // A killed process left its log for the next reader, and the proxy may be using it.
  database.run('PRAGMA busy_timeout = 5000')
  const row = database
    .query<{ waiting: number }, []>('SELECT count(*) AS waiting FROM records')
    .get()
  database.close()
  return row?.waiting ?? 0
}

type Running = {
  child: Bun.Subprocess<'ignore', 'pipe', 'inherit'>
  printed: { port: number; https_proxy: string; base_url: string }
}

async function startProxy(): Promise<Running> {
  const { PATH = '' } = process.env
  const child = watched(
    Bun.spawn([await executable(), '--json', 'proxy', '--port', '0'], {
      cwd: ada.cwd,
      env: { PATH, HOME: ada.home, SERVICE_SERVER_URL: server.origin, ...environment },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    }),
  )
  let text = ''
  for await (const chunk of child.stdout) {
    text += Buffer.from(chunk).toString()
    if (text.endsWith('\n}\n')) break
  }
  return { child, printed: JSON.parse(text) }
}

async function callThrough({ printed: told }: Running): Promise<string> {
  const url = `${told.base_url}/${stage.authorityOf()}/echo`
  const answer = await fetch(url, { headers: { authorization: 'Bearer SVC_SECRET_KEY' } })
  return answer.text()
}

/** A route to the control plane that can be closed: then no server answers. */
async function openDoor(target: string) {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  let isShut = false
  const door = createServer((near) => {
    if (isShut) return void near.destroy()
    const far = connect(Number(port), hostname)
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far)
    far.pipe(near)
  })
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  const drop = () => {
    for (const socket of open) socket.destroy()
    open.clear()
  }
  return {
    origin: `http://127.0.0.1:${(door.address() as AddressInfo).port}`,
    shut: () => {
      isShut = true
      drop()
    },
    open: () => {
      isShut = false
    },
    close: () => {
      drop()
      door.close()
    },
  }
}
