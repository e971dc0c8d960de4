/** Leaving a workspace and declining an invitation to one: what people sign of themselves. It takes no key of the workspace. */
import { isSignedId } from '../../sigchain/index.ts'
import { ApiError } from '../http/api.ts'
import { UntrustedChain } from './chain.ts'
import {
  FormerMember,
  type Judge,
  ownId,
  type Send,
  type Signing,
  signChange,
} from './sign_change.ts'

/** @throws ApiError, UntrustedChain */
export async function signOwnRemoval<T>(signing: Signing, send: Send<T>): Promise<T> {
  const { workspace, identity } = signing
  if (!isSignedId(workspace.id)) return send(undefined, null)
  const { signing_key } = await identity()
  const judge: Judge = (chain) => ({
    type: 'members.removed',
    body: { user_ids: [ownId(chain, workspace, signing_key)] },
  })
  return signChange(signing, judge, send)
}

/** What a stranger signed is not remembered, and need not be followed in order to decline it. @throws ApiError */
export async function signDecline<T>(signing: Signing, send: Send<T>): Promise<T> {
  const hasKey = await signing.identity().then(
    () => true,
    () => false,
  )
  if (!hasKey) return send(undefined, null)
  const chains = signing.chains.unremembering()
  return signOwnRemoval({ ...signing, chains }, send).catch((error: unknown) => {
    if (!isUnsigned(error)) throw error
    return send(undefined, null)
  })
}

function isUnsigned(error: unknown): boolean {
  if (error instanceof ApiError) return UNSIGNED.includes(error.code)
  return error instanceof UntrustedChain || error instanceof FormerMember
}

const UNSIGNED = ['link_refused', 'unverified_state', 'link_required']
