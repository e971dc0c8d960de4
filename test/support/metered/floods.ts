/** Floods over connections, and their effect on a neighbour. */
import { expect } from 'bun:test'
import type { Socket } from 'node:net'
import { endsWithin } from '../../../src/core/async/timeout.ts'
import { API } from '../agent.ts'
import type { MeteredStage } from './stage.ts'

export const FLOOD_MS = 1_000
const MAX_STALL_MS = 100
const ATTEMPTS = 3

export const many = (unit: Uint8Array, bytes = 65_536) =>
  Buffer.concat(Array<Uint8Array>(Math.ceil(bytes / unit.length)).fill(unit))

/** Sends it repeatedly, as fast as it is read. */
export async function flood(wire: Socket, unit: Buffer, ms = FLOOD_MS): Promise<void> {
  const endsAt = Date.now() + ms
  while (wire.writable && Date.now() < endsAt) {
    // A connection that the other side does not read may never drain.
    if (wire.writableNeedDrain) await endsWithin(endsAt - Date.now(), drainOrEnd(wire))
    else if (wire.write(unit)) await new Promise((resolve) => setImmediate(resolve))
  }
}

function drainOrEnd(wire: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  wire.once('drain', resolve)
  wire.once('close', resolve)
  return promise.finally(() => {
    wire.off('drain', resolve)
    wire.off('close', resolve)
  })
}

/** The collector runs at random times, so each has three tries. */
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
    // However soon it is over, some of the neighbour's calls must succeed.
    while (!isOver || served < 4) {
      const { status } = await neighbour.resolve({
        target_url: `https://${API}:${upstream.port}/`,
      })
      expect(status).toBe(200)
      served += 1
      // The neighbour calls at a steady pace: calls without a pause would be another flood.
      await Bun.sleep(5)
    }
  })()
  await act().finally(() => {
    isOver = true
  })
  await calling
}
