/** Starts a server in its own process, and reads the cost of requests from it. */
import { join } from 'node:path'
import { openApi } from '../../../src/client/http/api.ts'
import type { TestApp } from '../app.ts'
import { watched } from '../watched.ts'
import type { Order } from './order.ts'
import type { Cost } from './probe.ts'

export type { Cost } from './probe.ts'

export type RekeyOrder = { count: number; bytes: number }
export type Question = 'cost' | 'stop' | 'stall' | RekeyOrder

type Answer = {
  orders?: Order[]
  neighbour?: { url: string; token: string }
  cost?: Cost
  origins?: { controlPlane: string; resolver: string }
}

export type MeteredServer = {
  orders: Order[]
  /** A cheap request of another tenant. */
  neighbour: { url: string; token: string }
  readCost(): Promise<Cost>
  /** A separate workspace, and the whole of its rekey; `body` is the path of a file. */
  makeRekey(order: RekeyOrder): Promise<Order>
  stop(): Promise<void>
}

export async function startMeteredServer(): Promise<MeteredServer> {
  const { first, ask, readCost, stop } = await startChild(join(import.meta.dir, 'child.ts'))
  const { orders = [], neighbour } = first
  if (!neighbour) throw new Error('the server did not start')
  return {
    orders,
    neighbour,
    readCost,
    makeRekey: async (order) => {
      const [made] = (await ask(order)).orders ?? []
      if (!made) throw new Error('the server made no rekey')
      return made
    },
    stop,
  }
}

export type MeteredResolver = {
  /** The part that people and agents need. */
  app: TestApp
  readCost(): Promise<Cost>
  /** Makes it use 300 ms in one turn of its event loop. */
  stall(): Promise<void>
  stop(): Promise<void>
}

/** Both listeners, and no prepared statements. */
export async function startMeteredResolver(env: Record<string, string>): Promise<MeteredResolver> {
  const { first, ask, readCost, stop } = await startChild(
    join(import.meta.dir, 'resolver/child.ts'),
    env,
  )
  const { controlPlane = '', resolver = '' } = first.origins ?? {}
  const api: Pick<TestApp, 'controlPlane' | 'resolver' | 'as'> = {
    controlPlane,
    resolver,
    as: (token) => openApi(controlPlane, () => token ?? null),
  }
  const stall = async () => {
    await ask('stall')
  }
  return { app: api as TestApp, readCost, stall, stop }
}

async function startChild(file: string, env: Record<string, string> = {}) {
  let take: (answer: Answer) => void = () => {}
  const next = () =>
    new Promise<Answer>((resolve) => {
      take = resolve
    })
  const ready = next()
  const child = watched(
    Bun.spawn([process.execPath, file], {
      ipc: (answer: Answer) => take(answer),
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, METERED_ENV: JSON.stringify(env) },
    }),
  )
  const ask = (question: Question) => {
    const answer = next()
    child.send(question)
    return answer
  }
  const readCost = async () => {
    const { cost } = await ask('cost')
    if (!cost) throw new Error('the server told no cost')
    return cost
  }
  const stop = async () => {
    child.send('stop')
    await child.exited
  }
  return { first: await ready, ask, readCost, stop }
}
