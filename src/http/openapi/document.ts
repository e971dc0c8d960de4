/**
 * The OpenAPI 3.1 document, generated from the contracts that the server validates with. Built on the first request,
 * not at start.
 */
import type { Endpoint, TokenAccess } from '../endpoint.ts'
import type { Surface } from '../reply.ts'
import { DEFAULT_BODY_LIMIT } from '../request_body.ts'
import { responseHeaders, sharedSchemas } from './components.ts'
import { exampleOf } from './example.ts'
import { jsonSchemaOf } from './json_schema.ts'
import { Models } from './models.ts'
import { type Parameter, parametersOf } from './parameters.ts'
import { modelName, responsesOf } from './responses.ts'

type Fields = Record<string, unknown>

/** The endpoints of one listener. */
export type Documented = { surface: Surface; endpoints: readonly Endpoint[] }

export type Operation = {
  operationId: string
  tags: string[]
  summary: string
  description: string
  security: Fields[]
  servers?: Fields[]
  parameters: Parameter[]
  requestBody?: Fields
  responses: Fields
}

export type OpenApiDocument = {
  openapi: '3.1.0'
  info: { title: string; version: string; description: string }
  servers: Fields[]
  externalDocs: Fields
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Fields>
}

/** The address of each listener, as clients of the document reach it. */
export type Addresses = Record<Surface, string>

const descriptions: Record<Surface, string> = {
  'control-plane': 'The control plane (PORT)',
  resolver: 'The resolver (RESOLVER_PORT)',
}

function serversOf(surfaces: readonly Surface[], addresses: Addresses): Fields[] {
  return surfaces.map((one) => ({ url: addresses[one], description: descriptions[one] }))
}

const securitySchemes = {
  session: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'svc_ses_…',
    description: 'Access token from signing in, valid for 15 minutes.',
  },
  token: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'svc_agt_…, svc_wkl_… or svc_sea_…',
    description: 'Agent or workload token.',
  },
  cron: { type: 'http', scheme: 'bearer', description: 'CRON_SECRET of the server.' },
}

const DESCRIPTION = `Bodies are JSON in UTF-8. Paths end in \`/\`; the server also accepts them without it.
Success is \`{"status":"success","data":…}\`, failure \`{"status":"failure","error_code":…,"message":…,"request_id":…}\`; health, the resolver and workload delivery return their data without this wrapper.
An unsupported method returns 405 \`method_not_allowed\` with the supported methods in \`Allow\`.
Numbers in queries and headers are whole numbers in decimal digits: \`16\`, not \`0x10\`, \`+16\` or \`1.6e1\`.
Clients seal secrets, keys and envelopes. Only the resolver and workload delivery handle plaintext, with a token that holds the key.`

/** The document of everything that these listeners serve. */
export function openApiDocument(
  surfaces: readonly Documented[],
  version: string,
  addresses: Addresses,
): OpenApiDocument {
  const operations = mergeSurfaces(surfaces)
  const tags = [...new Set(operations.map(({ endpoint }) => tagOf(endpoint)))]
  const paths: OpenApiDocument['paths'] = {}
  const models = new Models()
  const main = surfaces.slice(0, 1).map(({ surface }) => surface)
  const isOnMain = (on: readonly Surface[]) => on.join() === main.join()
  for (const [name, schema] of Object.entries(sharedSchemas)) models.add(name, schema)
  for (const { endpoint, on } of operations) {
    paths[endpoint.path] = {
      ...paths[endpoint.path],
      [endpoint.method.toLowerCase()]: {
        ...operationOf(endpoint, on, models),
        ...(isOnMain(on) ? {} : { servers: serversOf(on, addresses) }),
      },
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Cloakroom', version, description: DESCRIPTION },
    servers: serversOf(main, addresses),
    externalDocs: {
      description: 'Documentation',
      url: `${addresses['control-plane'].replace(/\/$/, '')}/docs/`,
    },
    tags: tags.map((name) => ({ name })),
    paths,
    components: {
      schemas: models.schemas,
      headers: responseHeaders,
      securitySchemes,
    },
  }
}

type Placed = { endpoint: Endpoint; on: Surface[] }

/** An endpoint that both listeners serve is one operation with two servers. */
function mergeSurfaces(surfaces: readonly Documented[]): Placed[] {
  const byName = new Map<string, Placed>()
  for (const { surface, endpoints } of surfaces) {
    for (const endpoint of endpoints) {
      const on = byName.get(endpoint.name)?.on ?? []
      byName.set(endpoint.name, { endpoint, on: [...on, surface] })
    }
  }
  return [...byName.values()]
}

/** The feature: the first part of the endpoint's name. */
function tagOf({ name }: Endpoint): string {
  return name.split('.')[0] ?? name
}

function operationOf(endpoint: Endpoint, on: readonly Surface[], models: Models): Operation {
  const body = requestBodyOf(endpoint, models)
  return {
    operationId: endpoint.name,
    tags: [tagOf(endpoint)],
    summary: endpoint.summary,
    description: descriptionOf(endpoint),
    security: securityOf(endpoint),
    parameters: parametersOf(endpoint),
    ...(body ? { requestBody: body } : {}),
    responses: responsesOf(endpoint, on, models),
  }
}

function descriptionOf({ access, bodyLimit }: Endpoint): string {
  const sentences = [
    access.kind === 'public' && 'No authentication.',
    access.kind === 'session' &&
      (access.instanceOwner ? 'Requires a session of the server owner.' : 'Requires a session.'),
    access.kind === 'cron' &&
      'Requires CRON_SECRET as bearer token; returns 404 if CRON_SECRET is unset.',
    access.kind === 'member' && `Requires a session with the permission \`${access.permission}\`.`,
    access.kind === 'token' && tokenSentence(access),
    bodyLimit &&
      bodyLimit > DEFAULT_BODY_LIMIT &&
      `Body limit: ${bodyLimit / DEFAULT_BODY_LIMIT} MiB.`,
  ]
  return sentences.filter(Boolean).join(' ')
}

function tokenSentence({ capability, sealed, orSession }: TokenAccess): string {
  const that = capability === null ? '' : ` that may \`${capability}\``
  const needed = `Requires an agent or workload token${that}`
  const form = sealed ? '; the sealed form is enough' : ''
  return `${needed}${form}${orSession ? ', or a session' : ''}.`
}

function securityOf({ access }: Endpoint): Fields[] {
  if (access.kind === 'public') return []
  if (access.kind === 'cron') return [{ cron: [] }]
  if (access.kind !== 'token') return [{ session: [] }]
  const token = { token: access.capability === null ? [] : [access.capability] }
  return access.orSession ? [token, { session: [] }] : [token]
}

/** Generators of clients that know no ranges of types take the first. */
const ANYTHING = {
  'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
  '*/*': { schema: {} },
}

function requestBodyOf(
  { name, body, bodyOptional, forwards, method }: Endpoint,
  models: Models,
): Fields | null {
  if (forwards && method !== 'GET') return { required: false, content: ANYTHING }
  if (!body) return null
  const schema = models.of(body, 'input', modelName(name, 'Body'))
  const example = exampleOf(jsonSchemaOf(body, 'input'))
  return {
    required: bodyOptional !== true,
    content: { 'application/json': { schema, example } },
  }
}
