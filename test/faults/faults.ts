/** The faults by name, for `bun run faults`. */
import { chaos } from './chaos.ts'
import { cutOff, startBehindRouter, startBehindWire } from './cut.ts'
import { fullDisk } from './disk.ts'
import { killRound } from './kill.ts'
import { Loss } from './ledger.ts'
import type { Random } from './random.ts'
import { rotationRound } from './rotation.ts'
import { crashRound, freeze, stopRound } from './stops.ts'
import { type Kind, openWorld, type World } from './world.ts'

export type Order = { kind: Kind; rounds: number; seconds: number; random: Random }

/**
 * Returns the observations in one line.
 * @throws Loss
 */
type Run = (order: Order, log: (line: string) => void) => Promise<string>

export type Faults = Record<string, { rounds: number; databases: readonly Kind[]; run: Run }>

const both = ['embedded', 'postgresql'] as const

export const faults: Faults = {
  kill: { rounds: 50, databases: both, run: inRounds(killRound) },
  crash: { rounds: 20, databases: ['postgresql'], run: inRounds(crashRound) },
  freeze: { rounds: 1, databases: ['postgresql'], run: frozen },
  stop: { rounds: 20, databases: both, run: inRounds(stopRound) },
  rotation: { rounds: 20, databases: both, run: inRounds(rotationRound) },
  chaos: { rounds: 1, databases: both, run: badApi },
  cut: { rounds: 3, databases: ['postgresql'], run: cutBy(startBehindWire) },
  loss: { rounds: 3, databases: ['postgresql'], run: cutBy(startBehindRouter) },
  disk: { rounds: 5, databases: both, run: ({ kind, rounds }) => fullDisk(kind, rounds, 3_000) },
}

function cutBy(start: typeof startBehindWire): Run {
  return ({ rounds }) => cutOff(start, { rounds, silentMs: 30_000 })
}

const FROZEN_MS = 30_000
/** The time in which the health endpoint must report the missing database. */
const TOLD_MS = 5_000

async function frozen({ kind, rounds }: Order): Promise<string> {
  const world = await openWorld(kind)
  let longest = 0
  try {
    for (let count = 0; count < rounds; count += 1)
      longest = Math.max(longest, await freeze(world, FROZEN_MS))
    const seen = `frozen for 30 s; health answered within ${longest.toFixed(0)} ms`
    if (longest > TOLD_MS) throw new Loss(seen)
    return seen
  } finally {
    await world.stop()
  }
}

async function badApi({ kind, seconds, random }: Order): Promise<string> {
  const world = await openWorld(kind)
  try {
    return await chaos(world, random, seconds)
  } finally {
    await world.stop()
  }
}

function inRounds(round: (world: World, random: Random) => Promise<unknown>): Run {
  return async ({ kind, rounds, random }, log) => {
    const world = await openWorld(kind)
    try {
      for (let count = 1; count <= rounds; count += 1) {
        await round(world, random)
        log(`round ${count}, ${world.subject.ledger.size} acknowledged`)
      }
      const { ledger, upstream } = world.subject
      return `${ledger.size} acknowledged, ${upstream.received.length} calls`
    } finally {
      await world.stop()
    }
  }
}
