// tier: all
/** Cloakroom behind the real nginx and Caddy, configured the way docs/deploy describes. */
import { expect } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { ofConsole } from '../support/console.ts'
import { requires } from '../support/requires.ts'
import { type Accepted, accepting, frame } from '../support/socket_upstream.ts'
import { until } from '../support/until.ts'
import { watched } from '../support/watched.ts'
import { EXAMPLES, type Front, RESOLVER, startFront, VAULT } from './fronts.ts'

const { afterAll, beforeAll } = requires('curl')

const MIB = 1024 * 1024
const HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

const directory = mkdtempSync(join(tmpdir(), 'cr-fronts-'))
let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await openStage({
    env: {
      ALLOWED_HOSTS: `127.0.0.1,${VAULT},${RESOLVER}`,
      TRUSTED_PROXIES: '127.0.0.1/32',
      RATE_LOGIN: '5/3600',
    },
  })
  agent = await createAgentWithToken(stage, { secrets: { KEY: 'sk_live_0123456789abcdef' } })
})
afterAll(async () => {
  await stage.stop()
  rmSync(directory, { recursive: true, force: true })
})

for (const [example, program] of EXAMPLES) {
  const { describe, test, beforeAll, afterAll } = requires(program, 'curl')
  describe(example, () => {
    let front: Front
    const home = join(directory, example)

    beforeAll(async () => {
      front = await startFront(example, home, stage.app)
    })
    afterAll(() => front.stop())

    const url = (name: string, path: string) => `https://${name}:${front.tls}${path}`

    function curl(...options: string[]) {
      const at = [VAULT, RESOLVER].flatMap((name) => [
        '--resolve',
        `${name}:${front.tls}:127.0.0.1`,
      ])
      const command = ['curl', '--silent', '--show-error', '--cacert', front.caFile, ...at]
      return watched(Bun.spawn([...command, ...options], { stdout: 'pipe', stderr: 'pipe' }))
    }

    /** Status and JSON of a call. */
    async function answerOf(...options: string[]): Promise<{ status: number; body: unknown }> {
      const text = await new Response(
        curl('--write-out', '\n%{http_code}', ...options).stdout,
      ).text()
      const cut = text.lastIndexOf('\n')
      return { status: Number(text.slice(cut + 1)), body: JSON.parse(text.slice(0, cut) || 'null') }
    }

    const json = (body: unknown) => ['--json', JSON.stringify(body)]
    const bearer = (token: string) => ['--header', `Authorization: Bearer ${token}`]

    /** A connection on which the test writes each byte. */
    async function byHand(name: string): Promise<{ wire: TLSSocket; text(): string }> {
      const ca = await Bun.file(front.caFile).text()
      const wire = connect({ host: '127.0.0.1', port: front.tls, servername: name, ca })
      let text = ''
      wire.on('data', (bytes) => {
        text += bytes.toString('latin1')
      })
      wire.on('error', () => {})
      await new Promise<void>((resolve) => wire.once('secureConnect', () => resolve()))
      return { wire, text: () => text }
    }

    test('the front accepts only TLS 1.3, and redirects plain HTTP to it', async () => {
      expect(await answerOf(url(VAULT, '/api/status/'))).toMatchObject({ status: 200 })
      const older = curl('--tls-max', '1.2', url(VAULT, '/api/status/'))
      expect(await older.exited).toBe(35)
      const at = ['--resolve', `${VAULT}:${front.http}:127.0.0.1`]
      const plain = curl(...at, '--head', `http://${VAULT}:${front.http}/console/`)
      const head = await new Response(plain.stdout).text()
      expect(head).toMatch(/^HTTP\/1\.1 308 /)
      expect(head).toMatch(/^location: https:\/\/vault\.example\.com/im)
    })

    test("a limit counts the client's address, whatever headers the client sends", async () => {
      const [mine, other] =
        example === 'Caddyfile' ? ['127.0.0.7', '127.0.0.8'] : ['127.0.0.5', '127.0.0.6']
      const ask = async (from: string, ...more: string[]) =>
        (
          await answerOf(
            '--interface',
            from,
            ...more,
            ...json({ email: 'a@b.example' }),
            url(VAULT, '/api/auth/prelogin/'),
          )
        ).status
      for (let count = 0; count < 5; count += 1) expect(await ask(mine)).toBe(200)
      expect(await ask(mine)).toBe(429)
      expect(await ask(mine, '--header', 'X-Forwarded-For: 203.0.113.9')).toBe(429)
      expect(await ask(other)).toBe(200)
    })

    test('the console is served, and requests from pages of another origin are rejected', async () => {
      const page = curl('--include', url(VAULT, '/console/'))
      expect(await new Response(page.stdout).text()).toMatch(
        /^content-security-policy: default-src 'none'/im,
      )
      const { 'sec-fetch-site': _, ...headers } = ofConsole({ access: agent.person.token })
      const sent = Object.entries(headers).flatMap(([name, value]) => [
        '--header',
        `${name}: ${value}`,
      ])
      const ask = async (origin: string) =>
        (await answerOf(...sent, '--header', `Origin: ${origin}`, url(VAULT, '/api/users/me/')))
          .status
      expect(await ask(`https://${VAULT}:${front.tls}`)).toBe(200)
      expect(await ask(`https://${RESOLVER}:${front.tls}`)).toBe(401)
    })

    test('a streamed answer arrives word by word, and ends upstream when its reader disconnects', async () => {
      const { promise: connected, resolve } = Promise.withResolvers<TLSSocket>()
      stage.upstream.on('/words', (_, wire) => resolve(wire))
      const body = {
        target_url: stage.url('/words'),
        headers: { authorization: 'Bearer SVC_SECRET_KEY' },
        stream: true,
      }
      const call = curl('-N', ...bearer(agent.token), ...json(body), url(RESOLVER, '/v1/resolve'))
      const reader = call.stdout.getReader()
      const wire = await connected
      const words = ['data: one\n\n', 'data: two\n\n', 'data: three\n\n']
      for (const [at, word] of words.entries()) {
        wire.write((at === 0 ? HEAD : '') + chunk(word))
        expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe(word)
      }
      const gone = new Promise<void>((done) => wire.once('close', () => done()))
      call.kill()
      await gone
    })

    test('live events arrive as they happen', async () => {
      const live = curl(
        '-N',
        ...bearer(agent.person.token),
        url(VAULT, `/api/workspaces/${agent.workspaceId}/live/`),
      )
      const seen = (async () => {
        const decoder = new TextDecoder()
        let text = ''
        for await (const piece of live.stdout) {
          text += decoder.decode(piece, { stream: true })
          if (text.includes('/seen-live')) return text
        }
        return text
      })()
      let isOver = false
      void seen.then(() => {
        isOver = true
      })
      await until(
        async () => {
          await agent.resolve({ target_url: stage.url('/seen-live') })
          return isOver
        },
        { stepMs: 50 },
      )
      expect(await seen).toContain('/seen-live')
      live.kill()
    })

    test('a WebSocket is connected in both directions', async () => {
      const accepted = Promise.withResolvers<Accepted>()
      stage.upstream.on('/socket', accepting(accepted.resolve))
      const ca = await Bun.file(front.caFile).text()
      const socket = new WebSocket(
        `wss://127.0.0.1:${front.tls}/v1/forward/${stage.authorityOf()}/socket`,
        {
          headers: {
            host: `${RESOLVER}:${front.tls}`,
            'x-service-token': agent.token,
            authorization: 'Bearer SVC_SECRET_KEY',
          },
          tls: { ca, serverName: RESOLVER, checkServerIdentity: () => undefined },
        } as never,
      )
      const received = new Promise((resolve) => {
        socket.onmessage = ({ data }) => resolve(data)
      })
      const upstream = await accepted.promise
      socket.onopen = () => socket.send('hello')
      if (socket.readyState === WebSocket.OPEN) socket.send('hello')
      expect((await upstream.next()).payload.toString()).toBe('hello')
      upstream.wire.write(frame(1, 'hello yourself'))
      expect(await received).toBe('hello yourself')
      socket.close()
    })

    test("bodies up to the product's limits pass, and larger ones get the product's error", async () => {
      const path = `/api/workspaces/${agent.workspaceId}/rekey/`
      const send = async (mib: number) => {
        const file = join(home, `${mib}.json`)
        writeFileSync(file, JSON.stringify({ filler: 'x'.repeat(mib * MIB - 13) }))
        const type = ['--header', 'Content-Type: application/json', '--data-binary', `@${file}`]
        return answerOf(...bearer(agent.person.token), ...type, url(VAULT, path))
      }
      expect(await send(32)).toMatchObject({
        status: 422,
        body: { error_code: 'validation_error' },
      })
      // Caddy waits half a second for a client that still sends after its rejection, and then closes the connection.
      let refused = await send(33)
      while (example === 'Caddyfile' && refused.status === 0) refused = await send(33)
      expect(refused).toMatchObject({ status: 413 })
    })

    test('a caller without permission is rejected, and the front reads no more of the body than it must', async () => {
      const { wire, text } = await byHand(VAULT)
      const body = Buffer.alloc(300_000, ' ')
      wire.write(
        `POST /api/workspaces/${agent.workspaceId}/rekey/ HTTP/1.1\r\nhost: ${VAULT}:${front.tls}\r\n` +
          `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
      )
      // Caddy 2.6 reads the client's request before it answers.
      if (example === 'Caddyfile') wire.write(body)
      await until(() => text().includes('\r\n\r\n'))
      expect(text()).toMatch(/^HTTP\/1\.1 401 /)
      wire.destroy()
    })

    test('a hundred slow bodies delay no other caller', async () => {
      const slow = await Promise.all(Array.from({ length: 100 }, () => byHand(RESOLVER)))
      for (const { wire } of slow) {
        wire.write(
          `POST /v1/resolve HTTP/1.1\r\nhost: ${RESOLVER}:${front.tls}\r\n` +
            `authorization: Bearer ${agent.token}\r\ncontent-length: 1000\r\n\r\n{`,
        )
      }
      const body = { target_url: stage.url('/neighbour') }
      const call = answerOf(...bearer(agent.token), ...json(body), url(RESOLVER, '/v1/resolve'))
      expect(await call).toMatchObject({ status: 200 })
      for (const { wire } of slow) wire.destroy()
    })
  })
}
