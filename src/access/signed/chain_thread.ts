/** Verifies many links on another thread, one chain at a time, without blocking requests. */
import { Semaphore } from '../../core/async/semaphore.ts'
import { workerAddress } from '../../core/worker_address.ts'
import { type Chain, Refusal, type SignedText } from '../../sigchain/index.ts'

export type Order =
  | { kind: 'begin'; chain: Chain }
  | { kind: 'extend'; links: readonly SignedText[] }
  | { kind: 'end' }

export type ChainOutcome =
  | { kind: 'verified'; chain: Chain }
  | { kind: 'refused'; refusal: ConstructorParameters<typeof Refusal> }
  | { kind: 'failed'; message: string }

/** Links sent per turn: copying them takes a millisecond or two. */
const PORTION = 500
const MAX_WAITING = 100

const threads = new Semaphore({ width: 1, queue: MAX_WAITING })

/** Extends a chain as `extend` does. @throws Refusal, and Fault `unavailable` if too many chains wait */
export function extendOnThread(chain: Chain, links: readonly SignedText[]): Promise<Chain> {
  return threads.run(async () => {
    const worker = new Worker(workerAddress('access/signed/chain_worker'))
    try {
      const ended = outcomeOf(worker)
      await Promise.race([ended, handOver(worker, chain, links)])
      return await ended
    } finally {
      worker.terminate()
    }
  })
}

async function handOver(worker: Worker, chain: Chain, links: readonly SignedText[]): Promise<void> {
  const post = (order: Order) => worker.postMessage(order)
  post({ kind: 'begin', chain })
  for (let at = 0; at < links.length; at += PORTION) {
    post({ kind: 'extend', links: links.slice(at, at + PORTION) })
    await new Promise((resolve) => setImmediate(resolve))
  }
  post({ kind: 'end' })
}

function outcomeOf(worker: Worker): Promise<Chain> {
  return new Promise((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<ChainOutcome>) => {
      if (data.kind === 'verified') resolve(data.chain)
      else reject(data.kind === 'refused' ? new Refusal(...data.refusal) : new Error(data.message))
    })
    worker.addEventListener('error', ({ message }) => reject(new Error(message)))
    worker.addEventListener('close', () => reject(new Error('the verification thread exited')))
  })
}
