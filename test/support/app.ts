/** The whole application in this process on free ports, over the database under test. */

import { type Api, openApi } from '../../src/client/http/api.ts'
import type { Timers } from '../../src/core/async/timers.ts'
import { type Config, readConfig } from '../../src/core/config/config.ts'
import { Pepper } from '../../src/core/crypto/pepper.ts'
import { openLog } from '../../src/core/log.ts'
import type { PasswordCost } from '../../src/core/password_cost.ts'
import type { Lookup } from '../../src/outbound/connection/address_lookup.ts'
import { type App, startApp } from '../../src/server/app.ts'
import { search } from './canary.ts'
import { checkAnswer } from './contract.ts'
import { preparedDatabase, type TestDatabase } from './database.ts'

export type Answer = {
  status: number
  /** The whole parsed body, compared as a whole; results are read through the typed client. */
  body: unknown
  headers: Headers
}

export type TestApp = App & {
  config: Config
  /** The pepper of its rows of tokens and passwords. */
  pepper: Pepper
  /** Moves with `clock.advance(ms)`; starts at the real time. */
  clock: { now(): number; advance(ms: number): void; reset(): void }
  /** Every log line so far. */
  logs: string[]
  controlPlane: string
  resolver: string
  /** One control-plane call: `body` becomes JSON, `token` the bearer. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  /** The typed client, with a token or without one. */
  as(token?: string): Api
  stop(): Promise<void>
}

export type CallOptions = {
  token?: string | undefined
  body?: unknown
  headers?: Record<string, string>
}

const KEYS = {
  SECRET_KEY: 'test-secret-key-test-secret-key-test',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64url'),
}

/** Limits on registration and login are per address, and every test uses the same one. */
export const UNLIMITED = {
  RATE_REGISTER: '1000000/60',
  RATE_LOGIN: '1000000/60',
  RATE_API: '1000000/60',
}

let shared: Promise<TestApp> | undefined

/**
 * The one application of this test process, with default settings. Use it unless the test needs settings, a name
 * lookup or whole tables: tenants are isolated, so a fresh workspace is enough. Each file that requests it gets a
 * clock at the real time, even if an earlier file has advanced it. Email addresses must be unique (`freshEmail`), and
 * `logs` also has the lines of earlier tests. Nothing stops it: the runner removes its database.
 */
export async function sharedApp(): Promise<TestApp> {
  shared ??= preparedDatabase({ isKept: true }).then((database) =>
    startTestApp(UNLIMITED, { database }),
  )
  const app = await shared
  app.clock.reset()
  return { ...app, stop: async () => {} }
}

let emails = 0

/** An address that no other test of this run uses. */
export function freshEmail(name = 'person'): string {
  emails += 1
  return `${name}-${emails}-${process.pid}@people.example`
}

/** The cheapest possible Argon2id: 0.3 ms. `test/features/accounts` tests the default cost. */
export const CHEAP_PASSWORDS: PasswordCost = { memoryCost: 8, timeCost: 1 }

export type TestAppOptions = {
  lookup?: Lookup
  /** The test's own, for deadlines, waits and drains; the system's by default. */
  timers?: Timers | undefined
  database?: TestDatabase
  /** `CHEAP_PASSWORDS` by default; with 'default' the app uses its production cost. */
  passwordCost?: PasswordCost | 'default'
}

/** Starts on a new empty database, or on a given one, which stays when the application stops. */
export async function startTestApp(
  env: Record<string, string> = {},
  { lookup, timers, database: given, passwordCost = CHEAP_PASSWORDS }: TestAppOptions = {},
): Promise<TestApp> {
  const database = given ?? (await preparedDatabase())
  const config = readConfig(
    { PORT: '0', RESOLVER_PORT: '0', ...KEYS, ...database.env, ...env },
    () => KEYS,
  )
  const logs: string[] = []
  const keep = keepingIn(logs)
  const clock = movableClock()
  const app = await startApp(config, {
    clock,
    ...(passwordCost === 'default' ? {} : { passwordCost }),
    log: openLog('debug', keep),
    onFailure: keep,
    ...(lookup ? { lookup } : {}),
    ...(timers ? { timers } : {}),
  })
  const controlPlane = app.controlPlane ?? ''
  return {
    ...app,
    config,
    pepper: Pepper.parse(config.SECRET_KEY),
    clock,
    logs,
    controlPlane,
    resolver: app.resolver ?? '',
    call: (method, path, options) => callJson(controlPlane, method, path, options),
    as: (token) => openApi(controlPlane, () => token ?? null),
    stop: async () => {
      await app.stop()
      if (!given) database.remove()
    },
  }
}

/** Receives log lines, and passes them to the canary. */
export function keepingIn(logs: string[]): (line: string) => void {
  return (line) => {
    search('log', 'a line', line)
    logs.push(line)
  }
}

export async function callJson(
  origin: string,
  method: string,
  path: string,
  { token, body, headers = {} }: CallOptions = {},
): Promise<Answer> {
  const response = await fetch(`${origin}${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const answer = text === '' ? null : JSON.parse(text)
  if (response.ok) checkAnswer(method, path, answer)
  return { status: response.status, body: answer, headers: response.headers }
}

function movableClock() {
  let offset = 0
  return {
    now: () => Date.now() + offset,
    advance: (ms: number) => {
      offset += ms
    },
    reset: () => {
      offset = 0
    },
  }
}
