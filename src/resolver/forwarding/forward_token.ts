/** The token of a call in forward mode, in any place where SDKs send an API key, and the headers without it. */

import { TOKEN_PATTERN } from '../../core/crypto/token.ts'
import { Fault } from '../../core/fault.ts'
import { headersPassedOn } from '../../outbound/headers.ts'

const TOKEN_HEADER = 'x-service-token'
const BASIC = /^(basic +)([A-Za-z0-9+/]+={0,2})$/i
const ANYWHERE = new RegExp(TOKEN_PATTERN.source)
const EMBEDDED = new RegExp(`(${TOKEN_PATTERN.source})\\.`, 'g')
const BARE = new RegExp(`^bearer +(${TOKEN_PATTERN.source})$`, 'i')

/**
 * The token, from its own header or from before the placeholder in an API key, and the caller's
 * headers without it.
 *
 * @throws Fault `invalid_token` when it is missing, or two that differ
 */
export function takeToken(given: Headers): {
  token: string
  headers: Record<string, string>
} {
  const named = given.get(TOKEN_HEADER)
  const tokens = new Set<string>(named === null ? [] : [named.trim()])
  const headers: Record<string, string> = {}
  for (const [name, value] of headersPassedOn(given)) {
    const bare = name === 'authorization' ? BARE.exec(value)?.[1] : undefined
    if (bare) tokens.add(bare)
    else headers[name] = withoutTokens(name, value, tokens)
  }
  const token = requireOnly([...tokens])
  if (Object.entries(headers).some(holdsToken)) {
    throw new Fault('invalid_header', {
      message: 'A header contains the token, which would reach the API.',
    })
  }
  return { token, headers }
}

/** Whether a program sent a token. A browser sends cookies, and Basic credentials without a token, automatically. */
export function sendsToken(headers: Headers): boolean {
  return [...headers].some(([name, value]) => name !== 'cookie' && ANYWHERE.test(value))
}

function requireOnly([token, ...others]: readonly string[]): string {
  if (token === undefined || others.length > 0) throw new Fault('invalid_token')
  return token
}

/** Removes `svc_agt_….` from a value, also inside Basic credentials, and keeps it. */
function withoutTokens(name: string, value: string, tokens: Set<string>): string {
  const cut = (text: string) =>
    text.replace(EMBEDDED, (_, token: string) => {
      tokens.add(token)
      return ''
    })
  const [, scheme = '', credentials = ''] = (name === 'authorization' && BASIC.exec(value)) || []
  if (scheme === '') return cut(value)
  const decoded = Buffer.from(credentials, 'base64')
  const text = decoded.toString()
  if (!Buffer.from(text).equals(decoded)) return value
  return `${scheme}${Buffer.from(cut(text)).toString('base64')}`
}

/** Also inside Basic credentials, whatever their bytes. */
function holdsToken([name, value]: readonly [string, string]): boolean {
  if (ANYWHERE.test(value)) return true
  const credentials = name === 'authorization' ? BASIC.exec(value)?.[2] : undefined
  if (credentials === undefined) return false
  return ANYWHERE.test(Buffer.from(credentials, 'base64').toString('latin1'))
}
