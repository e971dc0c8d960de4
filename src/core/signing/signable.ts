/** The request that a signature is made over. */

export type HeaderPair = [name: string, value: string]

/** What a signature adds to a request, and itself in each of its forms. */
export type MadeSignature = { headers: HeaderPair[]; signature: readonly Uint8Array[] }

/** What is signed: the request as it goes out, except the headers that the signature adds. */
export type Signable = {
  method: string
  authority: string
  path: string
  /** With its `?`, or empty. */
  search: string
  headers: readonly HeaderPair[]
  body: Uint8Array
}
