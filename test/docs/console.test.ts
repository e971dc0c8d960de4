// tier: all
/** Executes the commands of docs/guides/console.md. */
import { expect } from 'bun:test'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openConsole } from '../../src/console/serve.ts'
import { openTerminal } from '../cli/person.ts'
import { sharedApp } from '../support/app.ts'
import { requires } from '../support/requires.ts'
import { linesOf, scriptOf } from './blocks.ts'

const { test } = requires('bash', 'curl')

/** Replaces the browser: reads the page of the address, then stops the console. Ctrl-C does not end it. */
const BROWSER = `#!/bin/sh
trap '' INT
: > page.html
curl -fsS -o page.html "$1"
kill -INT $PPID
`

test('the commands of the page open the console in a browser, and at a given port without one', async () => {
  const person = await openTerminal(await sharedApp())
  person.write('xdg-open', BROWSER)
  // Its port is a free one, because the usual one may be taken on this machine.
  const [open = '', atPort = ''] = linesOf('docs/guides/console.md', 'open')
  const withBrowser = `chmod +x xdg-open; PATH="$PWD:$PATH"; ${open.replace(/(?= +#)/, ' --port 0')}`
  const opened = await person.type(withBrowser)
  expect(opened.screen).toMatch(/http:\/\/cloakroom-[0-9a-f]{32}\.localhost:\d+\/console\//)
  const page = join(person.cwd, 'page.html')
  expect(readFileSync(page, 'utf8')).toStartWith('<!doctype html>')
  rmSync(page)
  const port = freePort()
  // A second in which a browser would be started.
  const line = `PATH="$PWD:$PATH"; ${atPort.replace('9000', port)}; sleep 1`
  const quiet = await person.type(line, [{ when: `:${port}/console/`, type: '\u0003' }])
  expect(quiet.screen).toContain(`.localhost:${port}/console/`)
  expect(existsSync(page)).toBe(false)
  person.remove()
}, 60_000)

function freePort(): string {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = server
  void server.stop(true)
  return String(port)
}

test('the commands of the page print the hash of the console, and name a file that differs', async () => {
  const app = await sharedApp()
  const person = await openTerminal(app)
  const script = scriptOf('docs/guides/console.md', 'verify')
  const verify = (server: string) =>
    person.shell(script.replaceAll('https://vault.example.com', server))
  const { hash } = await openConsole()
  expect(await verify(app.controlPlane)).toEqual({ code: 0, out: `${hash}  -\n`, err: '' })
  const changing = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async ({ url }) => {
      const { pathname } = new URL(url)
      const file = await (await fetch(`${app.controlPlane}${pathname}`)).blob()
      return new Response(pathname.endsWith('.css') ? new Blob([file, ' ']) : file)
    },
  })
  const { out } = await verify(changing.url.origin)
  await changing.stop(true)
  expect(out).toMatch(/^[0-9a-f]{64} {2}-\nassets\/main-\w+\.css differs\n$/)
  person.remove()
}, 60_000)
