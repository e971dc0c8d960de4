/** Answers that are refused before they are asked for. */
import { Fault } from '../../core/fault.ts'

/**
 * An answer that a store computes from an object by a query in the body (S3 Select, Blob Query of Azure) may be any part
 * of a value, or any form of it, which nobody could recognise.
 *
 * @throws Fault `invalid_target`
 */
export function checkNotComputed(method: string, search: string): void {
  if (method !== 'POST') return
  const parameters = new URLSearchParams(search)
  const isSelect = parameters.has('select') && parameters.has('select-type')
  const isQuery = [...parameters].some(
    ([name, text]) => /^comp$/i.test(name) && /^query$/i.test(text),
  )
  if (!isSelect && !isQuery) return
  throw new Fault('invalid_target', {
    message: COMPUTED,
    fields: [{ path: 'target_url', message: COMPUTED }],
  })
}

const COMPUTED =
  'Objects cannot be queried (S3 Select, Blob Query): what that answers cannot be searched for credentials. Fetch the object.'
