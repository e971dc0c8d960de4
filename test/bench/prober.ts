/** Measures how long requests take while other work is done: one at a time of each kind, a few milliseconds apart. */

import type { Subject } from '../load/subject.ts'
import { type Kind, trafficOf } from '../load/traffic.ts'
import { percentile, timed } from './measure.ts'

const KINDS: readonly Kind[] = ['resolve', 'read a secret', 'write a secret']
const PAUSE_MS = 20

export type Latencies = Record<string, { p50: number; p99: number; most: number; failed: number }>
export type Probed<T> = { result: T; tookMs: number; latencies: Latencies }

/** Sends requests while the work runs, and until the last of them is answered. */
export async function probing<T>(subject: Subject, work: () => Promise<T>): Promise<Probed<T>> {
  let isOver = false
  const probes = await Promise.all(KINDS.map((kind) => probeOf(kind, subject)))
  const asking = probes.map(async ({ kind, ask }) => {
    const times: number[] = []
    let failed = 0
    while (!isOver) {
      const tookMs = await timed(async () => {
        if (!(await ask().catch(() => false))) failed += 1
      })
      times.push(tookMs)
      await Bun.sleep(PAUSE_MS)
    }
    const [p50, p99] = [percentile(times, 50), percentile(times, 99)]
    return [kind, { p50, p99, most: Math.max(...times), failed }] as const
  })
  const began = performance.now()
  const result = await work().finally(() => {
    isOver = true
  })
  const tookMs = performance.now() - began
  return { result, tookMs, latencies: Object.fromEntries(await Promise.all(asking)) }
}

async function probeOf(kind: Kind, subject: Subject) {
  const { origin, requests } = await trafficOf(kind, subject)
  let count = 0
  const ask = async (): Promise<boolean> => {
    const request = requests[count++ % requests.length] ?? {}
    const { setupRequest } = request
    const asked = typeof setupRequest === 'function' ? setupRequest(request, {}) : request
    const { method = 'GET', path, headers, body } = asked
    const answer = await fetch(`${origin}${path}`, {
      method,
      headers: headers as Record<string, string>,
      ...(body === undefined ? {} : { body: String(body) }),
    })
    await answer.arrayBuffer()
    return answer.ok
  }
  // The first request of each kind fills the caches.
  for (let warm = 0; warm < 5; warm += 1) await ask()
  return { kind, ask }
}
