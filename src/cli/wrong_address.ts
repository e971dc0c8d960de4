/** Errors of a request to an address without a server or resolver. They name the setting. */
import { ApiError, openApi } from '../client/http/api.ts'
import type { AddressName } from './settings.ts'
import { CliError } from './terminal/cli_error.ts'

const SETTINGS: Readonly<Record<AddressName, string>> = {
  server: 'SERVICE_SERVER_URL (--server)',
  resolver: 'SERVICE_RESOLVER_URL (--resolver)',
}
/** Milliseconds to wait for the check, which only explains an error. */
const PROBE_MS = 3_000

/**
 * Does the work at an address.
 *
 * @throws CliError where the address is not a server or resolver, or the resolver cannot be reached
 */
export async function runAtAddress<T>(
  name: AddressName,
  address: string,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (await isElsewhere(name, address, error)) throw buildWrongAddressError(name, address)
    throw name === 'resolver' ? await withResolverNamed(error) : error
  }
}

/** Whether `not_found` is about the address: its health check is not there either. */
async function isElsewhere(name: AddressName, address: string, error: unknown): Promise<boolean> {
  if (!isNotFound(error)) return false
  const { getResolverHealth, getStatus } = await import('../features/health/contract.ts')
  const api = openApi(address, () => null, { timeoutMs: PROBE_MS })
  const probe = name === 'server' ? api.call(getStatus, {}) : api.call(getResolverHealth, {})
  return probe.then(() => false, isNotFound)
}

function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404 && error.code === 'not_found'
}

function buildWrongAddressError(name: AddressName, address: string): CliError {
  const hint = `set ${SETTINGS[name]} to the address of the ${name}; cloakroom config shows its source`
  return new CliError('unusable_answer', `${address} is not a Cloakroom ${name}`, hint)
}

async function withResolverNamed(error: unknown): Promise<unknown> {
  const { explain } = await import('./terminal/explain.ts')
  const { code, message, hint } = explain(error)
  if (code !== 'unreachable' || error instanceof CliError) return error
  return new CliError(code, message.replace(/^the server\b/, 'the resolver'), hint)
}
