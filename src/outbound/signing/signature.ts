/** The inputs of signatures: values of secrets, and headers of the request. */
import { Fault } from '../../core/fault.ts'
import type { Secret } from '../../core/secret.ts'
import { checkHeaderText, type HeaderPair } from '../headers.ts'

/** @throws Fault `unknown_secret` */
export function bytesIn(values: ReadonlyMap<string, Secret>, name: string): Uint8Array {
  const value = values.get(name)
  if (!value) throw new Fault('unknown_secret')
  return value.reveal()
}

/** A credential directly in a header. @throws Fault `unknown_secret`, `unusable_secret` */
export function textIn(values: ReadonlyMap<string, Secret>, name: string): string {
  const text = Buffer.from(bytesIn(values, name)).toString('latin1')
  checkHeaderText(name, text)
  return text
}

/** The value of a header. The name is in lower case. */
export function headerOf(
  headers: Readonly<Record<string, string>>,
  wanted: string,
): string | undefined {
  for (const name in headers) if (name.toLowerCase() === wanted) return headers[name]
  return undefined
}

/** Returns the headers with `authorization` replaced. */
export function withAuthorization(
  headers: readonly HeaderPair[],
  authorization: string,
): HeaderPair[] {
  const others = headers.filter(([name]) => !/^authorization$/i.test(name))
  return [...others, ['authorization', authorization]]
}
