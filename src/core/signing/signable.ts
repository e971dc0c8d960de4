/** The request that a signature is made over. */

export type HeaderPair = [name: string, value: string]

/** The headers that a signature adds, and the signature itself in each of its forms. */
export type MadeSignature = { headers: HeaderPair[]; signature: readonly Uint8Array[] }

/** The request to sign, as sent, except the headers that the signature adds. */
export type Signable = {
  method: string
  authority: string
  path: string
  /** With its `?`, or empty. */
  search: string
  headers: readonly HeaderPair[]
  body: Uint8Array
}
