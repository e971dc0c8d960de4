/** One run: everything at its rate at once, and one kind as fast as the given number of connections permits. */
import { watchAudit } from '../../src/features/audit/contract.ts'
import { generate, Tally, watch } from './generator.ts'
import { type AuditSize, type Sample, startSampler } from './sampler.ts'
import type { Subject } from './subject.ts'
import { type Kind, kinds, rates, trafficOf } from './traffic.ts'

export type Plan = {
  seconds: number
  /** As fast as possible, with this number of connections. */
  driven: Kind
  connections: number
  /** Whether all other kinds run beside it. */
  isMixed: boolean
}

export type Outcome = {
  tallies: Map<Kind, Tally>
  liveEvents: number
  samples: Sample[]
  waits: Map<string, number>
  audit: AuditSize | null
  serverCpuSeconds: number
  databaseCpuSeconds: number
  seconds: number
}

const STREAMS = 4
/** Enough for the concurrent requests of a rate. */
const RATE_CONNECTIONS = 2
/** One at a time, because each uses the result of the previous one; and logins are slow on purpose. */
const ALONE: readonly Kind[] = ['log in', 'refresh']

export async function run(subject: Subject, plan: Plan): Promise<Outcome> {
  const tallies = new Map<Kind, Tally>()
  const chosen = kinds.filter((kind) => plan.isMixed || kind === plan.driven)
  const traffics = new Map(
    await Promise.all(chosen.map(async (kind) => [kind, await trafficOf(kind, subject)] as const)),
  )
  const leaving = new AbortController()
  const streams = plan.isMixed ? await openStreams(subject, leaving.signal) : []
  const sampler = await startSampler(subject)
  const before = sampler.totals()
  const began = performance.now()
  const generators = [...traffics].map(([kind, traffic]) => {
    const tally = new Tally()
    tallies.set(kind, tally)
    return generate(traffic, paceOf(kind, plan), tally)
  })
  await Promise.all(generators)
  const seconds = (performance.now() - began) / 1000
  const after = sampler.totals()
  const audit = await sampler.stop()
  leaving.abort()
  return {
    tallies,
    liveEvents: streams.reduce((total, { events }) => total + events, 0),
    samples: sampler.samples,
    waits: sampler.waits,
    audit,
    serverCpuSeconds: after.serverCpuSeconds - before.serverCpuSeconds,
    databaseCpuSeconds: after.databaseCpuSeconds - before.databaseCpuSeconds,
    seconds,
  }
}

function paceOf(kind: Kind, { driven, connections, seconds }: Plan) {
  if (kind === driven) return { connections: kind === 'refresh' ? 1 : connections, seconds }
  const perSecond = rates[kind]
  return { connections: ALONE.includes(kind) ? 1 : RATE_CONNECTIONS, perSecond, seconds }
}

function openStreams({ server, caller }: Subject, signal: AbortSignal) {
  const path = watchAudit.path.replace('{workspace_id}', caller.workspace.id)
  const authorization = `Bearer ${caller.session.access}`
  const url = `${server.controlPlane}${path}`
  return Promise.all(Array.from({ length: STREAMS }, () => watch(url, authorization, signal)))
}
