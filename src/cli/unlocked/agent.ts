/**
 * `cloakroom __unlocked`: the process that keeps the unlocked key, as ssh-agent keeps keys. It gets the key
 * through its standard input, has it in memory only, and ends on request or after its time.
 */
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { z } from 'zod'

export const order = z.object({
  path: z.string(),
  salt: z.string(),
  key: z.string(),
  /** Milliseconds since 1970. */
  until: z.number(),
})
export type Order = z.output<typeof order>

export const question = z.enum(['key', 'until', 'lock'])
export type Question = z.output<typeof question>

const MAX_QUESTION = 64
const CHECK_MS = 1_000

export async function runAgent(): Promise<never> {
  const given = order.parse(JSON.parse(await text(process.stdin)))
  const end = (): never => {
    rmSync(given.path, { force: true })
    process.exit(0)
  }
  const server = createServer((socket) => converse(socket, given, end))
  server.on('error', () => process.exit(1))
  process.umask(0o177)
  rmSync(given.path, { force: true })
  await new Promise<void>((resolve) => server.listen(given.path, resolve))
  chmodSync(given.path, 0o600)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end)
  process.on('SIGHUP', () => {})
  process.stdout.write('ready\n')
  // A machine that slept has not counted the time, and a clock may be set back: whichever is over first.
  setTimeout(end, given.until - Date.now())
  setInterval(() => {
    if (isOver(given)) end()
  }, CHECK_MS)
  return new Promise<never>(() => {})
}

function isOver({ until }: Order): boolean {
  return Date.now() >= until
}

/** One question, one answer. */
function converse(socket: Socket, given: Order, end: () => never): void {
  let asked = ''
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk) => {
    asked += chunk.toString()
    if (asked.length > MAX_QUESTION) socket.destroy()
    else if (asked.includes('\n')) answer(socket, given, asked.trim(), end)
  })
}

function answer(socket: Socket, given: Order, asked: string, end: () => never): void {
  const parsed = question.safeParse(asked)
  if (!parsed.success || isOver(given)) {
    socket.destroy()
    if (isOver(given)) end()
    return
  }
  const { salt, key, until } = given
  const told = { key: { salt, key, until }, until: { until }, lock: { locked: true } }
  socket.end(`${JSON.stringify(told[parsed.data])}\n`, () => {
    if (parsed.data === 'lock') end()
  })
}
