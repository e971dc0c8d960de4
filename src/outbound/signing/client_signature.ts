/** A signature that a client made with a stand-in or a placeholder, and that the real key replaces. */

import type { Secret } from '../../core/secret.ts'
import type { Signable } from '../../core/signing/signable.ts'
import type { MadeBytes, NamedBytes } from '../../leak_guard/index.ts'
import type { CallBody } from '../call.ts'
import type { HeaderPair } from '../headers.ts'
import type { SigningUse } from './sign.ts'

export type Signature = {
  /** The place of the signature: placeholders in it are part of the signature. */
  place: 'header' | 'query' | 'body'
  uses: readonly SigningUse[]
  /** Headers that make the API return exactly the requested part of an object. */
  ranges?: readonly string[]
  /** @throws Fault `unusable_secret` for values that do not sign */
  sign(request: Unsigned, values: ReadonlyMap<string, Secret>): ResignedRequest
}

export type Unsigned = Omit<Signable, 'body'> & { body: CallBody }

/** Receives each token that was replaced in a response, for the guard. */
export type GuardToken = (token: MadeBytes) => void

export type ResignedRequest = {
  headers: readonly HeaderPair[]
  search: string
  body: CallBody
  signatures: readonly NamedBytes[]
  /** Replaces the credentials in an answer. */
  received?: ((response: Response, guardToken: GuardToken) => Promise<Response>) | undefined
}
