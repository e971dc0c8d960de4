/** Floods over connections, and what a neighbour of the one who floods notices of it. */
import { expect } from 'bun:test'
import type { Socket } from 'node:net'
import { API } from '../agent.ts'
import { effort } from '../effort.ts'
import type { MeteredStage } from './stage.ts'

export const FLOOD_MS = effort(1_000, 3_000)
const MAX_STALL_MS = 100
const ATTEMPTS = 3

export const many = (unit: Uint8Array, bytes = 65_536) =>
  Buffer.concat(Array<Uint8Array>(Math.ceil(bytes / unit.length)).fill(unit))

/** Sends it over and over, as fast as it is taken. */
export async function flood(wire: Socket, unit: Buffer, ms = FLOOD_MS): Promise<void> {
  const until = Date.now() + ms
  while (wire.writable && Date.now() < until) {
    if (wire.writableNeedDrain) await Bun.sleep(2)
    else if (wire.write(unit)) await new Promise((resolve) => setImmediate(resolve))
  }
}

/** When the collector runs is chance, so each has three tries. */
export async function expectNoStall(
  stage: MeteredStage,
  act: () => Promise<unknown>,
): Promise<void> {
  const { server } = stage
  for (let attempt = 1; ; attempt += 1) {
    await server.readCost()
    await callsOfTheNeighbour(stage, act)
    const { stallMs, peakMb } = await server.readCost()
    expect(peakMb).toBeLessThan(700)
    if (stallMs >= MAX_STALL_MS && attempt < ATTEMPTS) continue
    expect(stallMs).toBeLessThan(MAX_STALL_MS)
    return
  }
}

async function callsOfTheNeighbour(
  { neighbour, upstream }: MeteredStage,
  act: () => Promise<unknown>,
): Promise<void> {
  let [isOver, served] = [false, 0]
  const calling = (async () => {
    // However soon it is over: some calls of theirs have to come through.
    while (!isOver || served < 4) {
      const { status } = await neighbour.resolve({
        target_url: `https://${API}:${upstream.port}/`,
      })
      expect(status).toBe(200)
      served += 1
      await Bun.sleep(5)
    }
  })()
  await act().finally(() => {
    isOver = true
  })
  await calling
}
