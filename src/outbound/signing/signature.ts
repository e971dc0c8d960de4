/** A signature that a client made with a stand-in or a placeholder, and that has to be made anew. */
import type { NamedBytes } from '../../leak_guard/index.ts'
import { Fault } from '../../platform/fault.ts'
import type { Secret } from '../../platform/secret.ts'
import type { CallBody } from '../call.ts'
import { checkHeaderText, type HeaderPair } from '../headers.ts'
import type { SigningUse } from './sign.ts'
import type { Signable } from './signable.ts'
import type { GuardToken } from './tickets.ts'

export type Signature = {
  /** Where it stands: placeholders there are part of it. */
  place: 'header' | 'query' | 'body'
  uses: readonly SigningUse[]
  /** Headers by which the API gives the very part of an object that is asked for. */
  ranges?: readonly string[]
  /** @throws Fault `unusable_secret` for values that do not sign */
  sign(request: Unsigned, values: ReadonlyMap<string, Secret>): SignedAnew
}

export type Unsigned = Omit<Signable, 'body'> & { body: CallBody }

export type SignedAnew = {
  headers: readonly HeaderPair[]
  search: string
  body: CallBody
  signatures: readonly NamedBytes[]
  /** What becomes of an answer that is a credential itself. */
  received?: ((response: Response, guardToken: GuardToken) => Promise<Response>) | undefined
}

/** @throws Fault `unknown_secret` */
export function bytesIn(values: ReadonlyMap<string, Secret>, name: string): Uint8Array {
  const value = values.get(name)
  if (!value) throw new Fault('unknown_secret')
  return value.reveal()
}

/** A credential that stands in a header itself. @throws Fault `unknown_secret`, `unusable_secret` */
export function textIn(values: ReadonlyMap<string, Secret>, name: string): string {
  const text = Buffer.from(bytesIn(values, name)).toString('latin1')
  checkHeaderText(name, text)
  return text
}

/** The value of a header, whose name is given in lower case. */
export function headerOf(
  headers: Readonly<Record<string, string>>,
  wanted: string,
): string | undefined {
  for (const name in headers) if (name.toLowerCase() === wanted) return headers[name]
  return undefined
}

/** With `authorization` in place of what was there. */
export function withAuthorization(
  headers: readonly HeaderPair[],
  authorization: string,
): HeaderPair[] {
  const others = headers.filter(([name]) => !/^authorization$/i.test(name))
  return [...others, ['authorization', authorization]]
}
