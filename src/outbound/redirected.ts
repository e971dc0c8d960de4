/**
 * A call to which another host's redirect or link led (`~from=HOST` in its address). Clients send it with the
 * headers of the call before, so that host's credentials would follow wherever it leads. As in a browser, none
 * of them counts: headers that hold one stay out, placeholders elsewhere are text, and nothing is signed.
 */
import { PLACEHOLDER_PREFIX } from '../core/names/secret_name.ts'
import type { Call } from './call.ts'
import { changeTexts } from './encoded_headers.ts'

/** Headers that hold credentials also without a placeholder. */
const CREDENTIALS = ['authorization', 'cookie']

/** The call as it is sent on. */
export function withoutCredentials(call: Call): Call {
  const kept = Object.entries(call.headers).filter(
    ([name, value]) => !CREDENTIALS.includes(name.toLowerCase()) && !holdsPlaceholder(name, value),
  )
  return { ...call, headers: Object.fromEntries(kept), signing: null }
}

function holdsPlaceholder(name: string, value: string): boolean {
  let isFound = false
  changeTexts(name.toLowerCase(), value, ({ text }) => {
    isFound ||= text.includes(PLACEHOLDER_PREFIX)
    return null
  })
  return isFound
}
