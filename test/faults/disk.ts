/** A small disk that fills up during all work, and gets space again. */
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { watched } from '../support/watched.ts'
import { startFaultCluster } from './cluster.ts'
import { whileDown } from './kill.ts'
import { Loss } from './ledger.ts'
import { untilHealthy } from './stops.ts'
import { type Kind, openWorld } from './world.ts'

const MB = 1_048_576

export type Disk = { path: string; fill(): void; free(): void; remove(): void }

/** Needs root, which CI has. Without root this throws and reports it. */
export function makeDisk(megabytes: number): Disk {
  const path = mkdtempSync(join(tmpdir(), 'cr-faults-disk-'))
  const mounted = watched(
    Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'none', path]),
  )
  if (mounted.exitCode !== 0) throw new Error(`a disk to fill cannot be mounted: ${mounted.stderr}`)
  const ballast = join(path, 'ballast')
  return {
    path,
    fill: () => fillUp(ballast),
    free: () => rmSync(ballast, { force: true }),
    remove: () => {
      watched(Bun.spawnSync(['umount', '-l', path]))
      rmSync(path, { recursive: true, force: true })
    },
  }
}

/** Fills the last block. */
function fillUp(ballast: string): void {
  const file = openSync(ballast, 'a')
  for (const size of [MB, 4096]) while (hasTaken(file, size));
  closeSync(file)
}

function hasTaken(file: number, size: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(size)) === size
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false
    throw error
  }
}

/** Returns the answers that callers got meanwhile. */
export async function fullDisk(kind: Kind, rounds: number, fullMs: number): Promise<string> {
  // The embedded database reserves 96 MiB.
  const disk = makeDisk(kind === 'embedded' ? 256 : 64)
  const data = join(disk.path, 'data')
  mkdirSync(data)
  const cluster =
    kind === 'postgresql' ? await startFaultCluster({ home: data, isSmall: true }) : undefined
  const place = cluster ? { cluster } : { dataDir: data }
  const world = await openWorld(kind, { ...place, isShort: true, replicas: 1 })
  const counts = new Map<string, number>()
  try {
    for (let round = 0; round < rounds; round += 1) {
      const { refusals } = await world.through(() =>
        whileDown(world, world.subject.replicas, async () => {
          disk.fill()
          await Bun.sleep(fullMs)
          disk.free()
          // PostgreSQL without room for its log ends; a service manager restarts it.
          if (cluster && !cluster.isUp()) await cluster.start()
          await untilHealthy(world)
        }),
      )
      for (const [code, count] of refusals) counts.set(code, (counts.get(code) ?? 0) + count)
      await world.subject.replicas[0]?.serving()
    }
    const unknownCodes = [...counts.keys()].filter((code) => !KNOWN.test(code))
    if (unknownCodes.length > 0) throw new Loss(`told of a full disk: ${unknownCodes}`)
    const { bavail, bsize } = statfsSync(disk.path)
    const room = Math.round((bavail * bsize) / MB)
    return `${[...counts].map(([code, count]) => `${code} ${count}x`).join(', ')}; ${room} MiB free at the end`
  } finally {
    await world.stop()
    await cluster?.remove()
    disk.remove()
  }
}

/** Stable codes, or no answer from a process that is restarting. */
const KNOWN = /^(503 (unavailable|audit_unavailable)|unreachable)$/
