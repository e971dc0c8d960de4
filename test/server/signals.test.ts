// tier: all
/** The effect of a hang-up and other signals on a server: with a terminal that disappears, and without one. */
import { afterAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { MAIN, scratch } from '../operator/backup/support.ts'
import { startServer } from '../support/server_process.ts'
import { until } from '../support/until.ts'
import { watched } from '../support/watched.ts'

const files = scratch()
afterAll(() => files.remove())

test('without a terminal, as under nohup or a service manager, the server keeps running', async () => {
  const server = await startServer({ DATA_DIR: files.at('alone') })
  for (const signal of ['SIGHUP', 'SIGUSR2', 'SIGHUP', 'SIGUSR1'] as const) server.kill(signal)
  // The last is acted on behind the others.
  await until(() => server.output().includes('an error report was written'))
  expect((await fetch(`${server.controlPlane}/api/status/health/`)).status).toBe(200)
  server.kill('SIGTERM')
  expect(await server.exited).toBe(0)
}, 60_000)

test.each([
  ['where its log is elsewhere', (log: string) => `2>${log}`],
  ['where its log was there too', () => ''],
])(
  'a server stops gracefully with its terminal, %s',
  async (name, redirect) => {
    const log = files.at(`${name}.log`.replaceAll(' ', '_'))
    const line = `exec "$0" "$1" serve ${redirect(log)}`
    const ready = Promise.withResolvers<void>()
    let shown = ''
    const { PATH = '', HOME = '' } = process.env
    const child = watched(
      Bun.spawn(['sh', '-c', line, process.execPath, MAIN], {
        env: { PATH, HOME, PORT: '0', RESOLVER_PORT: '0', DATA_DIR: files.at(name) },
        terminal: {
          cols: 200,
          rows: 50,
          data: (_, bytes) => {
            shown += new TextDecoder().decode(bytes)
            if (shown.includes('Stop: Ctrl-C')) ready.resolve()
          },
        },
      }),
    )
    await ready.promise
    child.terminal?.close()
    expect({ code: await child.exited, signal: child.signalCode }).toEqual({
      code: 0,
      signal: null,
    })
    if (existsSync(log)) expect(readFileSync(log, 'utf8')).toContain('"signal":"SIGHUP"')
    if (existsSync(log)) expect(readFileSync(log, 'utf8')).toContain('"message":"stopped"')
  },
  60_000,
)
