/** A mistyped placeholder: the near name that the token may use, instead of a command that stores the typo. */
import { ApiError, openApi } from '../client/http/api.ts'
import { PLACEHOLDER_PREFIX, SECRET_NAME } from '../core/names/secret_name.ts'
import { listCredentials } from '../resolver/contract.ts'
import { nearNames } from './named.ts'

/** Milliseconds to wait for the names, which only improve a hint. */
const NAMES_MS = 3_000

type Caller = { resolver: string; token: string; environment: string | undefined }

const PLACEHOLDER = new RegExp(`${PLACEHOLDER_PREFIX}(${SECRET_NAME})`, 'g')

/**
 * The refusal of a request with a near name in its message and without a fix; unchanged where the token has no near name.
 */
export async function withNearSecret(
  error: unknown,
  request: object,
  caller: Caller,
): Promise<unknown> {
  if (!(error instanceof ApiError) || error.code !== 'unknown_secret') return error
  const { status, code: error_code, message, docs } = error
  const usable = await usableNames(caller)
  const typed = [...JSON.stringify(request).matchAll(PLACEHOLDER)].map(([, name = '']) => name)
  const unknown = typed.find((name) => message.includes(name) && !usable.includes(name))
  const near = unknown === undefined ? [] : nearNames(unknown, usable)
  if (near.length === 0) return error
  const meant = `${message} Is it ${near.join(', ')}?`
  return new ApiError(status, { error_code, message: meant, docs: docs ?? undefined })
}

/** Empty where the token may not list them. */
async function usableNames({ resolver, token, environment }: Caller): Promise<string[]> {
  const api = openApi(resolver, () => token, { timeoutMs: NAMES_MS })
  const usable = await api.call(listCredentials, {}).catch(() => [])
  const here = usable.filter((one) => environment === undefined || one.environment === environment)
  return here.map(({ name }) => name)
}
