/**
 * Verifying what a server lists. A list and a chain are read one after the other, and somebody may sign in between: what
 * does not verify is looked at once more with the chain as it is by then, before it is called false.
 */
import { type Chain, Refusal } from '../../sigchain/index.ts'
import { type Chains, UntrustedChain } from './chain.ts'
import type { Named } from './chain_notices.ts'

/** @throws UntrustedChain for a Refusal that stays */
export async function verifyWithChain<T>(
  chains: Chains,
  workspace: Named,
  verify: (chain: Chain) => Promise<T>,
): Promise<T> {
  const first = await chains.of(workspace)
  try {
    return await verify(first)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
  }
  try {
    return await verify(await chains.continued(workspace))
  } catch (error) {
    throw error instanceof Refusal ? new UntrustedChain(workspace, error.message, error) : error
  }
}
