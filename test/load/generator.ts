/** autocannon, one instance for each kind: the given number of connections with one request at a time each, or a rate. */
import autocannon from 'autocannon'
import { percentile } from '../bench/measure.ts'
import type { Traffic } from './traffic.ts'

type Answer = { seconds: number; tookMs: number }

/** The outcomes of the requests of one kind. */
export class Tally {
  readonly answers: Answer[] = []
  /** By status from 400 on, or by the error of a connection. */
  readonly failures = new Map<string, number>()

  get failed(): number {
    return [...this.failures.values()].reduce((sum, count) => sum + count, 0)
  }

  fail(code: string): void {
    this.failures.set(code, (this.failures.get(code) ?? 0) + 1)
  }

  /** Milliseconds. */
  latency(percent: number): number {
    return percentile(
      this.answers.map(({ tookMs }) => tookMs),
      percent,
    )
  }
}

export type Pace = { connections: number; perSecond?: number | undefined; seconds: number }

/** Autocannon's own histogram corrects for unsent requests of a rate; this one counts sent requests. */
export async function generate(traffic: Traffic, pace: Pace, tally: Tally): Promise<void> {
  const { connections, perSecond, seconds } = pace
  const began = performance.now()
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const instance = autocannon(
    {
      url: traffic.origin,
      requests: traffic.requests,
      connections,
      duration: seconds,
      ...(perSecond === undefined ? {} : { overallRate: perSecond }),
    },
    resolve,
  )
  instance.on('response', (_client, status, _bytes, tookMs) => {
    tally.answers.push({ seconds: (performance.now() - began) / 1000, tookMs })
    if (status >= 400) tally.fail(String(status))
  })
  instance.on('reqError', (error: Error & { code?: string }) =>
    tally.fail(error.code ?? error.message),
  )
  await promise
}

/** Streams of live events, held open; returns the number of events. */
export async function watch(
  url: string,
  authorization: string,
  signal: AbortSignal,
): Promise<{ events: number }> {
  const seen = { events: 0 }
  const answer = await fetch(url, { headers: { authorization }, signal })
  if (!answer.ok || !answer.body) throw new Error(`the live stream answers ${answer.status}`)
  const count = async (body: ReadableStream<Uint8Array>) => {
    for await (const text of body.pipeThrough(
      new TextDecoderStream() as never,
    ) as AsyncIterable<string>)
      seen.events += text.split('\ndata:').length - 1
  }
  count(answer.body).catch(() => {})
  return seen
}
