/**
 * The load generator without wrk: raw sockets and a parser for exactly the contestants' answers, which costs a
 * fraction of `fetch`.
 */
import type { Socket } from 'bun'
import type { LoadPlan, LoadResult, Shot } from './load.ts'
import { percentile } from './measure.ts'

type Line = { sentAt: number; received: string }

export async function generateLoad({ shot, concurrency, seconds }: LoadPlan): Promise<LoadResult> {
  const requests = requestsOf(shot)
  let count = 0
  const latencies: number[] = []
  const tally = { failures: 0, over: false }
  const send = (socket: Socket<Line>) => {
    socket.data = { sentAt: performance.now(), received: '' }
    socket.write(requests[count++ % requests.length] ?? '')
  }
  const receive = (socket: Socket<Line>, chunk: Buffer) => {
    socket.data.received += chunk.toString('latin1')
    const status = statusOf(socket.data.received)
    if (status === null) return
    latencies.push(performance.now() - socket.data.sentAt)
    if (status >= 400) tally.failures += 1
    if (!tally.over) send(socket)
  }
  const fail = () => {
    tally.failures += 1
  }
  const { hostname, port, protocol } = new URL(shot.url)
  const started = performance.now()
  const sockets = await Promise.all(
    Array.from({ length: concurrency }, () =>
      Bun.connect<Line>({
        hostname,
        port: Number(port),
        data: { sentAt: 0, received: '' },
        // The contestants' certificates are not measured.
        ...(protocol === 'https:' ? { tls: { rejectUnauthorized: false } } : {}),
        socket: { open: send, data: receive, error: fail },
      }),
    ),
  )
  await Bun.sleep(seconds * 1000)
  tally.over = true
  for (const socket of sockets) socket.end()
  return {
    requests: latencies.length,
    failures: tally.failures,
    seconds: (performance.now() - started) / 1000,
    p50Ms: percentile(latencies, 50),
    p99Ms: percentile(latencies, 99),
  }
}

function requestsOf({ authorizations = [], ...shot }: Shot): string[] {
  if (authorizations.length === 0) return [requestOf(shot)]
  return authorizations.map((authorization) =>
    requestOf({ ...shot, headers: { ...shot.headers, authorization } }),
  )
}

function requestOf({ url, method, headers, body }: Shot): string {
  const { host, pathname, search } = new URL(url)
  const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const fields = Object.entries({ host, ...headers, ...length })
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `${method} ${pathname}${search} HTTP/1.1\r\n${head}\r\n${body ?? ''}`
}

/** The status of a complete answer, or `null` while a part of it is missing. */
function statusOf(received: string): number | null {
  const border = received.indexOf('\r\n\r\n')
  if (border < 0) return null
  const head = received.slice(0, border)
  const rest = received.length - border - 4
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  const whole = length === undefined ? received.endsWith('\r\n0\r\n\r\n') : rest >= Number(length)
  return whole ? Number(head.slice(9, 12)) : null
}
