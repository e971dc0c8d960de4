/**
 * Each answer in a test is compared with its contract, and validated by zod: the server itself only drops fields that
 * the contract does not name, and checks types.
 */
import { listAllEndpoints } from '../../src/dev/all_endpoints.ts'
import type { Endpoint } from '../../src/http/endpoint.ts'

let known: ReturnType<typeof patternOf>[] | undefined

/** @throws Error naming the endpoint and the fields of a success that the contract does not permit */
export function checkAnswer(method: string, path: string, body: unknown): void {
  const route = path.split('?')[0] ?? ''
  known ??= listAllEndpoints()
    .flatMap(({ endpoints }) => endpoints.map(patternOf))
    .sort((one, other) => one.parameters - other.parameters)
  const found = known.find(
    ({ endpoint, pattern }) => endpoint.method === method && pattern.test(route),
  )
  if (!found?.endpoint.result) return
  const { name, bare, result } = found.endpoint
  const outcome = result.safeParse(bare ? body : (body as { data?: unknown } | null)?.data)
  const beside = found.endpoint.beside?.safeParse(body)
  const issues = [outcome, beside].flatMap((one) => one?.error?.issues ?? [])
  const paths = issues.length > 0 ? issues.map(({ path }) => path.join('.')).join(', ') : undefined
  if (paths !== undefined) throw new Error(`${name} answered against its contract at: ${paths}`)
}

/** Like in the router, literal segments go before a parameter. */
function patternOf(endpoint: Endpoint): {
  endpoint: Endpoint
  pattern: RegExp
  parameters: number
} {
  const path = endpoint.path.replace(/\{\w+\}/g, endpoint.restOfPath ? '.*' : '[^/]+')
  const parameters = endpoint.path.split('{').length
  return { endpoint, pattern: new RegExp(`^${path}$`), parameters }
}
