// tier: quick
/** The errors for an address that belongs to no Cloakroom server, or to a hostile one. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mintToken } from '../../src/core/crypto/token.ts'
import { openTerminal, type Terminal } from './person.ts'

let answer: () => Response
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  fetch: () => answer(),
})
const { host, origin } = server.url
let ada: Terminal

beforeAll(async () => {
  ada = await openTerminal({ controlPlane: origin, resolver: origin })
})
afterAll(() => {
  ada.remove()
  server.stop(true)
})

const hint = 'check the address and the server version: cloakroom config'
const { text: token } = mintToken('agt')
const call = (...options: string[]) => callBy(ada.run, ...options)
const callBy = (run: Terminal['run'], ...options: string[]) =>
  run(['call', 'https://api.example/', ...options], { env: { SERVICE_TOKEN: token } })

const complaint = (said: string, todo = hint) => ({
  code: 6,
  out: '',
  err: `cloakroom: ${host} ${said} (unusable_answer)\n→ ${todo}\n`,
})

const PIECE = Buffer.alloc(1_048_576, ' ')
function endless(status: number): Response {
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) =>
    controller.enqueue(PIECE)
  return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { status })
}

const answered = { status_code: 200, headers: {}, body: '', redacted: false }
const silent = (status: number) => `returned ${status}, and gave no reason`
const notOurs = 'returned 200, but not as a Cloakroom server'
const cases: [string, () => Response, string][] = [
  ['500 with nothing', () => new Response('', { status: 500 }), silent(500)],
  ['a page of another server', () => new Response('<h1>Hello</h1>'), notOurs],
  ['a page that is not there', () => new Response('<h1>No</h1>', { status: 404 }), silent(404)],
  ['nothing', () => new Response(''), notOurs],
  ['null', () => Response.json(null), notOurs],
  ['an object without fields', () => Response.json({}), notOurs],
  ['headers of another type', () => Response.json({ ...answered, headers: 7 }), notOurs],
  ['a body of another type', () => Response.json({ ...answered, body: {} }), notOurs],
  [
    'a body that is not base64',
    () => Response.json({ ...answered, body: '%', body_encoding: 'base64' }),
    'returned a body that is not valid base64',
  ],
  [
    'a refusal of other types',
    () => Response.json({ error_code: 1, message: [] }, { status: 403 }),
    silent(403),
  ],
  [
    'a redirect',
    () => new Response(null, { status: 302, headers: { location: 'http://127.0.0.1:1/' } }),
    'returned 302, and redirects to another address, which is not followed',
  ],
]
/** The command is a separate process, because the canary of this one would read the answer to its end. */
const endlessCases: typeof cases = [
  ['an answer without end', () => endless(200), 'returned 200 with more than 64 MiB'],
  ['a refusal without end', () => endless(500), silent(500)],
]

test.each([
  ...cases.map((one) => [...one, 'run'] as const),
  ...endlessCases.map((one) => [...one, 'spawn'] as const),
])('call reports %s', async (_, made, said, way) => {
  answer = made
  expect(await callBy(ada[way])).toEqual(complaint(said))
  const error = { code: 'unusable_answer', message: `${host} ${said}`, hint }
  expect(await callBy(ada[way], '--json', '-i')).toEqual({
    code: 6,
    out: '',
    err: `${JSON.stringify({ error })}\n`,
  })
})

test.each([502, 503, 504])(
  'call reports a proxy page with status %d as an answer that is not from the server',
  async (status) => {
    answer = () => new Response('<html><h1>Bad Gateway</h1></html>', { status })
    const todo =
      'a proxy reports that the server does not respond: check it with cloakroom health on its machine'
    expect(await call()).toEqual(complaint(silent(status), todo))
  },
)

test('call prints an answer of a resolver', async () => {
  answer = () => Response.json({ ...answered, body: 'hello\n' })
  expect(await call()).toEqual({ code: 0, out: 'hello\n', err: '' })
})

test.each([
  ['login', ['login', 'ada@example.com', '--password-stdin', '--insecure-storage']],
  ['register', ['register', 'ada@example.com', '--password-stdin', '--insecure-storage']],
])('%s also reports a proxy page', async (_, args) => {
  answer = () => new Response('<h1>Hello</h1>')
  const ran = await ada.run(args, { stdin: 'a long passphrase that stays here\n' })
  expect(ran).toEqual(complaint(notOurs))
})

test('run starts no command after a proxy page', async () => {
  answer = () => Response.json({ sealed: 7 })
  const ran = await ada.run(['run', '--', 'echo', 'started'], { env: { SERVICE_TOKEN: token } })
  expect(ran).toEqual(complaint(notOurs))
})
