/** What goes out: the request with everything in its place, and the values that must not come back. */
import type { Secret } from '../platform/secret.ts'
import { bytesOf, type Call } from './call.ts'
import type { Outbound } from './fetch.ts'
import type { HeaderPair } from './headers.ts'
import type { Filled } from './locations.ts'
import type { Injection } from './placeholders.ts'
import { sign } from './signing.ts'
import type { Target } from './target.ts'

export type Plan = Outbound & { values: readonly Uint8Array[]; wholes: readonly Uint8Array[] }

type Parts = {
  target: Target
  address: string
  injection: Injection
  filled: Filled
  values: ReadonlyMap<string, Secret>
}

/** @throws Fault `invalid_header`, `unusable_secret` when the request cannot be signed */
export function planOf(
  { userAgent, clock }: { userAgent: string; clock: { now(): number } },
  call: Call,
  { target, address, injection, filled, values }: Parts,
): Plan {
  const body = filled.body ? { bytes: filled.body } : call.body
  const { path, search } = filled
  const request = {
    method: call.method,
    authority: target.authority,
    path,
    search,
    headers: injection.headers,
    body: bytesOf(body) ?? new Uint8Array(),
  }
  const signed = call.signing ? sign(call.signing, request, values, clock.now()) : []
  return {
    address,
    host: target.host,
    port: target.port,
    authority: target.authority,
    pathAndQuery: `${path}${search}`,
    method: call.method,
    headers: completeHeaders([...injection.headers, ...signed], userAgent),
    body,
    values: [...values.values()].map((value) => value.reveal()),
    wholes: injection.wholes,
  }
}

/** An upstream that is asked not to compress cannot send a bomb. */
function completeHeaders(headers: readonly HeaderPair[], userAgent: string): HeaderPair[] {
  const kept = headers.filter(([name]) => name.toLowerCase() !== 'accept-encoding')
  const hasAgent = kept.some(([name]) => name.toLowerCase() === 'user-agent')
  return [
    ...kept,
    ...(hasAgent ? [] : [['user-agent', userAgent] satisfies HeaderPair]),
    ['accept-encoding', 'identity'],
  ]
}
