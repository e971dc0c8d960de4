/** PostgreSQL that is stopped immediately, or frozen, and a server that gets SIGTERM: all under load. */

import { whileDown } from './kill.ts'
import { Loss } from './ledger.ts'
import type { Random } from './random.ts'
import type { Replica } from './subject.ts'
import type { World } from './world.ts'

/** `pg_ctl stop -m immediate`: like a crash of PostgreSQL. */
export async function crashRound(world: World, random: Random): Promise<void> {
  const { cluster, subject } = world
  await world.through(async () => {
    await Bun.sleep(random.between(20, 1000))
    await whileDown(world, subject.replicas, async () => {
      await cluster?.stop('immediate')
      await Bun.sleep(random.between(0, 1000))
      await cluster?.start()
      await untilHealthy(world)
    })
    await Bun.sleep(random.between(20, 300))
    mustBeTheSame(world)
  })
}

/** SIGSTOP of every process of PostgreSQL. Returns the longest wait for an answer of the health endpoint, in milliseconds. */
export async function freeze(world: World, frozenMs: number): Promise<number> {
  let longest = 0
  await world.through(async () => {
    await Bun.sleep(200)
    await whileDown(world, world.subject.replicas, async () => {
      const pids = world.cluster?.pids() ?? []
      for (const pid of pids) process.kill(pid, 'SIGSTOP')
      longest = await longestAnswer(world, frozenMs).finally(() => {
        for (const pid of pids) process.kill(pid, 'SIGCONT')
      })
      await untilHealthy(world)
    })
    mustBeTheSame(world)
  })
  return longest
}

/** Each answer meanwhile reports that there is no database. Returns the longest wait for one. */
export async function longestAnswer(world: World, forMs: number): Promise<number> {
  const until = performance.now() + forMs
  let longest = 0
  while (performance.now() < until) {
    const began = performance.now()
    const status = await health(world.subject.replicas[0], 30_000)
    if (status !== 503) throw new Loss(`health was ${status} without a database`)
    longest = Math.max(longest, performance.now() - began)
    await Bun.sleep(100)
  }
  return longest
}

/** SIGTERM: accepted requests are answered, and the process exits normally. */
export async function stopRound(world: World, random: Random): Promise<void> {
  await world.through(async () => {
    await Bun.sleep(random.between(20, 1000))
    await whileDown(world, world.subject.replicas, () =>
      Promise.all(world.subject.replicas.map((replica) => replica.bounce('SIGTERM'))),
    )
    await Bun.sleep(random.between(20, 300))
  })
}

/** It recovered without help, and was not restarted. */
export function mustBeTheSame({ subject }: World): void {
  if (subject.replicas.some((replica) => replica.starts() > 1))
    throw new Loss('a server ended because of its database')
}

async function health(replica: Replica | undefined, timeoutMs: number): Promise<number> {
  const url = `${replica?.controlPlane}/api/status/health/`
  return (await fetch(url, { signal: AbortSignal.timeout(timeoutMs) })).status
}

/** Each process separately: the connections of one do not show the state of another's. */
export async function untilHealthy({ subject }: World): Promise<void> {
  const until = performance.now() + 60_000
  for (const replica of subject.replicas) {
    while ((await health(replica, 30_000).catch(() => 0)) !== 200) {
      if (performance.now() > until) throw new Loss('it did not recover within a minute')
      await Bun.sleep(50)
    }
  }
}
