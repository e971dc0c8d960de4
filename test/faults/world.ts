/**
 * A server with all work of people and agents at the same time, and a comparison of their answers with the stored
 * data.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FaultCluster, startFaultCluster } from './cluster.ts'
import { allow, createAgent, enrol, type Person, placeOf, store } from './person.ts'
import { type Replica, type Subject, startSubject } from './subject.ts'
import { type Running, reconcileAll, startWork, type Tally, type Work } from './work.ts'
import {
  accountWork,
  allowlistWork,
  bulkWork,
  callWork,
  refreshWork,
  rekeyWork,
  revokeWork,
} from './works.ts'

export type Kind = 'embedded' | 'postgresql'

export type World = {
  kind: Kind
  subject: Subject
  cluster: FaultCluster | null
  works: readonly Work[]
  people: readonly Person[]
  /** The parts that may fail now. */
  down: Set<string>
  /** The end of the last time when it was down. */
  cameBack: Map<string, number>
  /** Works during the fault and for a moment after it, then compares. */
  through(fault: () => Promise<void>): Promise<Tally>
  stop(): Promise<void>
}

type Options = {
  settings?: Record<string, string>
  /** Instead of a separate cluster or directory. */
  cluster?: FaultCluster
  dataDir?: string
  replicas?: number
  /** Without slow kinds of work. */
  isShort?: boolean
}

type Everything = { works: Work[]; people: Person[] }

export async function openWorld(kind: Kind, options: Options = {}): Promise<World> {
  const parent = mkdtempSync(join(tmpdir(), 'cr-faults-data-'))
  const cluster = options.cluster ?? (kind === 'postgresql' ? await startFaultCluster() : null)
  const database = cluster?.database ?? { DATA_DIR: options.dataDir ?? join(parent, 'data') }
  const replicas = options.replicas ?? (kind === 'postgresql' ? 2 : 1)
  const subject = await startSubject({ database, replicas, settings: options.settings ?? {} })
  const down = new Set<string>()
  const cameBack = new Map<string, number>()
  const stop = async () => {
    await subject.stop()
    if (!options.cluster) await cluster?.remove()
    rmSync(parent, { recursive: true, force: true })
  }
  const { works, people } = await everythingOn(subject, options.isShort ?? false).catch(
    async (error: unknown) => {
      await stop()
      throw error
    },
  )
  let loggedIn = Date.now()
  const through = async (fault: () => Promise<void>) => {
    if (Date.now() - loggedIn > SESSION_MS) {
      for (const person of people) await person.logIn()
      loggedIn = Date.now()
    }
    const wasDown = (origin: string, since: number) =>
      down.has(origin) || (cameBack.get(origin) ?? 0) > since
    const running = startWork(works, wasDown)
    return compareAfter(fault, running, works)
  }
  return { kind, subject, cluster, works, people, down, cameBack, through, stop }
}

/** An access token lasts for 15 minutes. */
const SESSION_MS = 8 * 60_000

async function compareAfter(
  fault: () => Promise<void>,
  running: Running,
  works: readonly Work[],
): Promise<Tally> {
  try {
    await fault()
  } finally {
    await running.stop()
  }
  await reconcileAll(works)
  return running.tally
}

async function everythingOn(subject: Subject, isShort: boolean): Promise<Everything> {
  const [first, last] = [subject.replicas[0], subject.replicas.at(-1)] as [Replica, Replica]
  const [writer, revoker, rekeyer] = await Promise.all(
    [first, last, first].map(({ controlPlane }) => enrol(controlPlane)),
  )
  if (!(writer && revoker && rekeyer)) throw new Error('unreachable')
  for (const person of [writer, revoker]) {
    await store(placeOf(person), { API_KEY: 'a key of faults' })
    await allow(person, subject.domain)
  }
  const agent = await createAgent(writer, 'caller')
  const works = [
    await bulkWork(subject, writer),
    await bulkWork(subject, writer),
    allowlistWork(subject, writer),
    revokeWork(subject, revoker),
    callWork(subject, writer, agent, first),
    callWork(subject, writer, agent, last),
    refreshWork(subject, rekeyer),
    await rekeyWork(subject, rekeyer),
  ]
  const people = [writer, revoker, rekeyer]
  if (isShort) return { works, people }
  // Each change of them derives keys from a password twice.
  const rotator = await enrol(last.controlPlane)
  return { works: [...works, await accountWork(subject, rotator)], people: [...people, rotator] }
}
