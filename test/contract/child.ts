/**
 * Makes some calls with a client that @hey-api/openapi-ts generated from the document, and prints a line of JSON for
 * each.
 */
export type Call = (
  options: object,
) => Promise<{ data?: unknown; error?: unknown; response: Response }>
type Client = Record<
  'projectsList' | 'resolverCredentials' | 'resolverResolve' | 'resolverForwardGet',
  Call
>

const [path = '', controlPlane, resolver, session, token, upstream] = process.argv.slice(2)
const client = (await import(path)) as Client

const person = { baseUrl: controlPlane, auth: () => session }
const agent = { baseUrl: resolver, auth: () => token }
const print = (what: unknown) => process.stdout.write(`${JSON.stringify(what)}\n`)
const namesOf = (listed: unknown) => (listed as { name: string }[]).map(({ name }) => name)

const { data: projects } = await client.projectsList(person)
print(namesOf((projects as { data: unknown }).data))
const { data: credentials } = await client.resolverCredentials(agent)
print(namesOf(credentials).sort())
const headers = { 'X-Key': 'SVC_SECRET_STRIPE_API_KEY' }
const resolve = (target_url: string) =>
  client.resolverResolve({ ...agent, body: { target_url, headers } })
const { data: answered } = await resolve(`https://${upstream}/echo`)
print((answered as { status_code: number }).status_code)
const { error } = await resolve('https://elsewhere.example/')
print((error as { error_code: string }).error_code)
const forwarded = await client.resolverForwardGet({
  ...agent,
  path: { host: upstream, path: 'echo' },
})
print(forwarded.response.status)
