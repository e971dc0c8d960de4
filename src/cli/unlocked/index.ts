/** The key that opens the sessions of this machine, unlocked for a time: kept by an agent, asked for here. */
import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { z } from 'zod'
import { endsWithin } from '../../core/async/timeout.ts'
import { isCompiled } from '../../core/compiled.ts'
import type { SealingKey } from '../session/session_seal.ts'
import { CliError } from '../terminal/cli_error.ts'
import type { Order, Question } from './agent.ts'
import { AGENT_COMMAND } from './command.ts'
import { ownSocket, socketPath } from './place.ts'

type Env = Record<string, string | undefined>

const TIMEOUT_MS = 2_000
const START_LIMIT_MS = 5_000
const MAX_ANSWER = 4_096

const keyAnswer = z.object({ salt: z.base64(), key: z.base64(), until: z.number() })
const untilAnswer = z.object({ until: z.number() })

/** Null if it is locked, or the listener is another user's. The passphrase is then requested. */
export async function readUnlockedKey(env: Env): Promise<SealingKey | null> {
  const answer = await ask(env, 'key').catch(() => null)
  const parsed = keyAnswer.safeParse(answer)
  if (!parsed.success) return null
  const { salt, key } = parsed.data
  return { salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64') }
}

/** When it will be locked; null if it is locked. @throws CliError `unsafe_socket` */
export async function readUnlockedUntil(env: Env): Promise<Date | null> {
  const parsed = untilAnswer.safeParse(await ask(env, 'until'))
  return parsed.success ? new Date(parsed.data.until) : null
}

/** Ends the agent; false without one. @throws CliError `unsafe_socket` */
export async function lock(env: Env): Promise<boolean> {
  return (await ask(env, 'lock')) !== null
}

/** Starts the agent, in the place of one that runs. @throws CliError */
export async function unlock(env: Env, { salt, key }: SealingKey, until: Date): Promise<void> {
  const path = socketPath(env, true)
  await lock(env)
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
  await startAgent({ path, salt: base64(salt), key: base64(key), until: until.getTime() })
}

/** A separate process, without a terminal, and without a core file if it crashes. */
async function startAgent(order: Order): Promise<void> {
  const own = [process.execPath, ...(isCompiled ? [] : [Bun.main]), AGENT_COMMAND]
  const child = spawn('/bin/sh', ['-c', 'ulimit -c 0; exec "$0" "$@"', ...own], {
    detached: true,
    cwd: '/',
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const ready = new Promise<boolean>((resolve) => {
    child.stdout.once('data', () => resolve(true))
    child.once('exit', () => resolve(false))
    child.once('error', () => resolve(false))
  })
  child.stdin.end(JSON.stringify(order))
  const isReady = await endsWithin(START_LIMIT_MS, ready)
  if (!isReady) child.kill('SIGKILL')
  child.stdout.destroy()
  child.unref()
  if (!isReady)
    throw new CliError('failed', 'the process that holds the key did not start within 5 seconds')
}

/** Null without a response. @throws CliError `unsafe_socket` */
async function ask(env: Env, question: Question): Promise<unknown> {
  const path = ownSocket(env)
  if (path === null) return null
  const { promise, resolve } = Promise.withResolvers<string>()
  let received = ''
  const socket = connect(path)
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy())
  socket.on('connect', () => socket.write(`${question}\n`))
  socket.on('data', (chunk) => {
    received += chunk.toString()
    if (received.length > MAX_ANSWER) socket.destroy()
  })
  socket.on('error', () => socket.destroy())
  socket.on('close', () => resolve(received))
  const text = await promise
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
