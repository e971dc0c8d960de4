// tier: all
/** The unit of docs/deploy, checked by systemd, and the messages of a server to systemd. */
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freshDatabase } from '../support/database.ts'
import { requires } from '../support/requires.ts'
import { startServer } from '../support/server_process.ts'
import { until } from '../support/until.ts'
import { watched } from '../support/watched.ts'

const unit = join(import.meta.dir, '../../docs/deploy/cloakroom.service')
const directory = mkdtempSync(join(tmpdir(), 'cr-unit-'))
const started: { kill(): void }[] = []
afterAll(() => {
  for (const program of started) program.kill()
  rmSync(directory, { recursive: true, force: true })
})

const KEYS = {
  SECRET_KEY: 'a-key-of-this-test-and-of-no-server',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64url'),
}

/** Output and exit code. */
async function run(...command: string[]): Promise<{ text: string; code: number }> {
  const child = watched(Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' }))
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { text: out + error, code: await child.exited }
}

requires('systemd').test('the unit is valid', async () => {
  const file = join(directory, 'cloakroom.service')
  const text = readFileSync(unit, 'utf8')
  // On the test machine, the executable is elsewhere.
  writeFileSync(file, text.replace('/usr/local/bin/cloakroom', process.execPath))
  expect(await run('systemd-analyze', 'verify', file)).toEqual({ text: '', code: 0 })
  writeFileSync(file, text.replace('ProtectSystem=strict', 'ProtectSystem=stricter'))
  expect((await run('systemd-analyze', 'verify', file)).text).toContain('protect system value')
})

requires('systemd').test('its exposure is at most 2.0', async () => {
  const judge = ['systemd-analyze', 'security', '--offline=true', '--no-pager']
  const { text, code } = await run(...judge, '--threshold=20', unit)
  expect(text).toMatch(/Overall exposure level for cloakroom.service: [01]\.\d/)
  expect(code).toBe(0)
  expect((await run(...judge, '--threshold=5', unit)).code).toBe(1)
})

/** Prints each datagram that arrives at the socket, as a line; the runtime has no such sockets. */
const LISTENER = `import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("listening", flush=True)
while True:
    print(s.recv(4096).decode().replace("\\n", " "), flush=True)
`

requires('python').test(
  'the server notifies systemd when it serves and when it stops',
  async () => {
    const socket = join(directory, 'notify')
    const listener = watched(
      Bun.spawn(['/usr/bin/python3', '-c', LISTENER, socket], {
        stdout: 'pipe',
        stderr: 'inherit',
      }),
    )
    started.push(listener)
    const reader = listener.stdout.getReader()
    let received = ''
    const until = async (text: string) => {
      while (!received.includes(text))
        received += Buffer.from((await reader.read()).value ?? []).toString()
    }
    await until('listening')
    const database = await freshDatabase()
    const server = await startServer({ ...database.env, ...KEYS, NOTIFY_SOCKET: socket })
    await until('READY=1')
    expect(received).toContain(`MAINPID=${server.pid}`)
    expect(received).not.toContain('STOPPING=1')
    server.kill('SIGTERM')
    await until('STOPPING=1')
    expect(await server.exited).toBe(0)
    database.remove()
  },
)

test('a start continues if systemd cannot be notified', async () => {
  const database = await freshDatabase()
  const server = await startServer({
    ...database.env,
    ...KEYS,
    NOTIFY_SOCKET: join(directory, 'nobody'),
  })
  await until(() => server.output().includes('systemd was not notified'))
  expect((await fetch(`${server.controlPlane}/api/status/`)).status).toBe(200)
  server.kill('SIGTERM')
  expect(await server.exited).toBe(0)
  database.remove()
})
