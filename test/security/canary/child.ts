/** Started by canary.test.ts, as its own suite with its own mark: a leak of each kind. */
import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { openTerminal } from '../../cli/person.ts'
import { keepingIn } from '../../support/app.ts'
import { formsOf, marked } from '../../support/canary.ts'
import { databaseKind, freshDatabase } from '../../support/database.ts'
import { rawRequest, sendRaw } from '../../support/raw_http.ts'
import { watched } from '../../support/watched.ts'

const mark = marked('')
const form = formsOf(mark)

test('nothing', () => {
  expect(mark).toBe(form['it is'] ?? '')
})

test('a log line', () => {
  keepingIn([])(JSON.stringify({ message: mark }))
})

test('the output of a program', async () => {
  const print = (text = '') => ['sh', '-c', `printf 'a line\\n'; sleep 0.1; printf '%s' '${text}'`]
  await watched(Bun.spawn(print(form.hex), { stdout: 'pipe' })).exited
  watched(Bun.spawnSync(print(form['hex in capitals'])))
})

test('a command that reveals reveals on standard output only', async () => {
  const script = `printf '%s' '${mark}'; printf '%s' '${form['a list of bytes']}' >&2`
  const options = { stdout: 'pipe', stderr: 'pipe' } as const
  const child = watched(Bun.spawn(['sh', '-c', script], options), { reveals: true })
  expect(await new Response(child.stdout).text()).toBe(mark)
  expect(await child.exited).toBe(0)
})

test('an error, and any whole answer of the resolver', async () => {
  const bodies = new Map([
    ['/error', () => new Response(form['base64 at 0'], { status: 400 })],
    ['/v1/resolve', () => new Response(`{"body":"${form['base64 at 1']}"}`)],
    ['/header', () => new Response('', { headers: { location: form['base64 at 2'] ?? '' } })],
    ['/raw', () => new Response(form['percent-encoded'])],
    ['/delivery', () => new Response(mark)],
  ])
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) => bodies.get(new URL(url).pathname)?.() ?? new Response(),
  })
  const origin = `http://127.0.0.1:${server.port}`
  for (const path of ['/error', '/v1/resolve', '/header']) await fetch(origin + path)
  await sendRaw(origin, rawRequest('GET /raw HTTP/1.1', ['Host: x', 'Connection: close']))
  expect(await (await fetch(`${origin}/delivery`)).text()).toBe(mark)
  await server.stop(true)
})

test('the database', async () => {
  const { env, remove } = await freshDatabase()
  if (databaseKind === 'postgresql') {
    const { DB_HOST: host = '', DB_USER: user = '', DB_NAME: database = '' } = env
    const sql = postgres({ host, user, database, max: 1 })
    await sql`create table kept as select ${`in a table: ${mark}`}::text as value`
    await sql.end()
  } else {
    mkdirSync(env.DATA_DIR ?? '')
    writeFileSync(join(env.DATA_DIR ?? '', 'wal'), `\0\0\0${mark}\0`)
  }
  remove()
})

test('files that a command line keeps at home, except those of its user', async () => {
  const terminal = await openTerminal({ controlPlane: '', resolver: '' })
  terminal.write('exported.env', mark)
  mkdirSync(join(terminal.home, '.config'))
  writeFileSync(
    join(terminal.home, '.config', 'session'),
    form['percent-encoded in capitals'] ?? '',
  )
  terminal.remove()
})

test('output of the tests', () => {
  console.log(`leaked: ${mark}`)
})
