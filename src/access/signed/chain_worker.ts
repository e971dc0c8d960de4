/** The thread that verifies long chains, which can take seconds. */
import { type Chain, extend, Refusal } from '../../sigchain/index.ts'
import type { ChainOutcome, Order } from './chain_thread.ts'

let verified: Promise<Chain> | undefined

self.addEventListener('message', ({ data: order }: MessageEvent<Order>) => {
  if (order.kind === 'begin') verified = Promise.resolve(order.chain)
  if (order.kind === 'extend') verified = verified?.then((chain) => extend(chain, order.links))
  // A failure is reported after the `end` order.
  verified?.catch(() => {})
  if (order.kind === 'end')
    verified?.then(
      (chain) => report({ kind: 'verified', chain }),
      (error: unknown) => report(failureOf(error)),
    )
})

function failureOf(error: unknown): ChainOutcome {
  if (!(error instanceof Refusal)) return { kind: 'failed', message: String(error) }
  const { reason, detail, subject } = error
  return { kind: 'refused', refusal: [reason, detail, subject] }
}

function report(outcome: ChainOutcome): void {
  postMessage(outcome)
}
