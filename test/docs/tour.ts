/** A page's tour, as a newcomer takes it: a server in one terminal, each line typed into another. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { executable } from '../binary/executable.ts'
import { PASSWORD } from '../cli/person.ts'
import { typing } from '../cli/pseudo_terminal.ts'
import { marked, searchFiles } from '../support/canary.ts'
import { watched } from '../support/watched.ts'
import { linesOf, scriptOf } from './blocks.ts'

/** The terminal's output and input, with milliseconds since the line was started. */
export type Event = { ms: number } & ({ shown: string } | { typed: string })
export type Answered = { line: string; screen: string; ms: number; events: Event[] }

const KEY = marked('sk_live_tour_51N8x')

/** The answer to each question of a tour. */
const typed = {
  register: [
    { when: 'Choose a password', type: `${PASSWORD}\r` },
    { when: 'Repeat it', type: `${PASSWORD}\r` },
  ],
  secrets: [{ when: 'Value of ', type: `${KEY}\r` }],
  agent: [{ when: 'Write this to ', type: 'y\r' }],
}

/**
 * Runs the blocks `server` and `tour` of a page as they are printed, and then further lines; the ports of Cloakroom
 * itself are the system's choice. @throws Error
 */
export async function takeTour(page: string, more: readonly string[] = []) {
  const place = mkdtempSync(join(tmpdir(), 'cr-tour-'))
  const PATH = `${dirname(await executable())}:${process.env.PATH}`
  const environment = { PATH, HOME: place, TMPDIR: place }
  const running = watched(
    Bun.spawn(['bash', '-c', scriptOf(page, 'server')], {
      env: { ...environment, PORT: '0', RESOLVER_PORT: '0' },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    }),
  )
  const shown = collect(running.stdout)
  try {
    const [SERVICE_SERVER_URL = '', SERVICE_RESOLVER_URL = ''] = await shown.addresses
    const env = {
      ...environment,
      SERVICE_SERVER_URL,
      SERVICE_RESOLVER_URL,
      SERVICE_PASSPHRASE: 'of this machine',
    }
    const answers = await typeLines(
      [...linesOf(page, 'tour'), ...more],
      join(place, 'project'),
      env,
    )
    return { answers, shown: shown.text(), key: KEY, place, addresses: await shown.addresses }
  } finally {
    process.kill(-running.pid, 'SIGTERM')
    await running.exited
    searchFiles('state', place, [])
    rmSync(place, { recursive: true, force: true })
  }
}

async function typeLines(lines: readonly string[], cwd: string, env: Record<string, string>) {
  mkdirSync(cwd)
  const answers: Answered[] = []
  for (const line of lines.filter((text) => !text.startsWith('cd '))) {
    const began = performance.now()
    const events: Event[] = []
    const watch = (event: { shown: string } | { typed: string }) =>
      void events.push({ ms: performance.now() - began, ...event })
    const { code, screen } = await typing(['bash', '-c', line], {
      cwd,
      env,
      typed: typed[line.split(' ')[1] as keyof typeof typed],
      watch,
    })
    if (code !== 0) throw new Error(`${line}\nended with ${code}:\n${screen}`)
    answers.push({ line, screen, ms: performance.now() - began, events })
  }
  return answers
}

/** Collects the output of the server's terminal, and its two addresses once it is ready. */
function collect(stdout: ReadableStream<Uint8Array>) {
  let text = ''
  const ready = Promise.withResolvers<string[]>()
  const read = async () => {
    for await (const chunk of stdout) {
      text += new TextDecoder().decode(chunk)
      if (text.includes('Stop: Ctrl-C')) ready.resolve(text.match(/http:\S+:\d+$/gm) ?? [])
    }
    ready.reject(new Error(`the server ended after: ${text}`))
  }
  void read()
  return { addresses: ready.promise, text: () => text }
}
