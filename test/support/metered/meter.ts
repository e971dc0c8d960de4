/** Starts `child.ts`, and asks it what requests have cost. */
import { join } from 'node:path'
import { watched } from '../watched.ts'

/** Since the last question. */
export type Cost = {
  /** Of all threads, the embedded database's too. */
  cpuMs: number
  /** Of the resident memory. */
  peakMb: number
  /** The most processor time between two turns of the event loop. */
  stallMs: number
}

/** A good request, to be made hostile. */
export type Order = {
  name: string
  method: string
  url: string
  token: string
  body: unknown
  /** Bytes that the endpoint takes. */
  limit: number
}

export type RekeyOrder = { count: number; bytes: number }
export type Question = 'cost' | 'stop' | RekeyOrder

type Answer = { orders?: Order[]; neighbour?: { url: string; token: string }; cost?: Cost }

export type MeteredServer = {
  orders: Order[]
  /** A cheap request of another tenant. */
  neighbour: { url: string; token: string }
  readCost(): Promise<Cost>
  /** A workspace of its own, and the whole of its rekey; `body` is the path of a file. */
  makeRekey(order: RekeyOrder): Promise<Order>
  stop(): Promise<void>
}

export async function startMeteredServer(): Promise<MeteredServer> {
  let take: (answer: Answer) => void = () => {}
  const next = () =>
    new Promise<Answer>((resolve) => {
      take = resolve
    })
  const ready = next()
  const child = watched(
    Bun.spawn([process.execPath, join(import.meta.dir, 'child.ts')], {
      ipc: (answer: Answer) => take(answer),
      stdio: ['ignore', 'ignore', 'inherit'],
      env: process.env,
    }),
  )
  const { orders = [], neighbour } = await ready
  if (!neighbour) throw new Error('the server did not start')
  return {
    orders,
    neighbour,
    readCost: async () => {
      const answer = next()
      child.send('cost')
      const { cost } = await answer
      if (!cost) throw new Error('the server told no cost')
      return cost
    },
    makeRekey: async (order) => {
      const answer = next()
      child.send(order)
      const [made] = (await answer).orders ?? []
      if (!made) throw new Error('the server made no rekey')
      return made
    },
    stop: async () => {
      child.send('stop')
      await child.exited
    },
  }
}
