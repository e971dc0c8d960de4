/** The faults by name, as `bun run faults` has them. */
import { killRound } from './kill.ts'
import type { Random } from './random.ts'
import { type Kind, openWorld, type World } from './world.ts'

export type Order = { kind: Kind; rounds: number; seconds: number; random: Random }

/** Returns what was seen, in a line. @throws Loss */
type Run = (order: Order, say: (line: string) => void) => Promise<string>

export type Faults = Record<string, { rounds: number; databases: readonly Kind[]; run: Run }>

const both = ['embedded', 'postgresql'] as const

export const faults: Faults = {
  kill: { rounds: 50, databases: both, run: inRounds(killRound) },
}

function inRounds(round: (world: World, random: Random) => Promise<void>): Run {
  return async ({ kind, rounds, random }, say) => {
    const world = await openWorld(kind)
    try {
      for (let count = 1; count <= rounds; count += 1) {
        await round(world, random)
        say(`round ${count}, ${world.subject.ledger.size} acknowledged`)
      }
      const { ledger, upstream } = world.subject
      return `${ledger.size} acknowledged, ${upstream.received.length} calls`
    } finally {
      await world.stop()
    }
  }
}
