/**
 * The kinds of requests for the load generator (autocannon): the sent request, and the data kept from an answer for
 * the next one.
 */
import type autocannon from 'autocannon'
import { authKey, deriveMasterKey } from '../../src/client/account/keys.ts'
import { uploadSecrets } from '../../src/client/actions/set_secrets.ts'
import { openApi } from '../../src/client/http/api.ts'
import { fromBase64 } from '../../src/core/crypto/encoding.ts'
import { login, prelogin, refresh } from '../../src/features/accounts/contract.ts'
import { listAuditLogs } from '../../src/features/audit/contract.ts'
import { getSecret, listSecrets, upsertSecrets } from '../../src/features/secrets/contract.ts'
import { deliverEnvironment } from '../../src/features/workloads/contract.ts'
import type { Endpoint } from '../../src/http/endpoint.ts'
import { type Customer, ENVIRONMENT, PASSWORD } from '../bench/customer.ts'
import type { Server } from '../bench/server.ts'
import { SECRETS, type Subject } from './subject.ts'

type Request = autocannon.Request
export type Traffic = { origin: string; requests: Request[] }

/** Requests per second beside the kind that runs as fast as possible. */
export const rates = {
  resolve: 200,
  'resolve by a cold key': 2,
  'deliver 100': 5,
  'list 100 names': 10,
  'list 100 values': 2,
  'read a secret': 10,
  'write a secret': 5,
  'audit page': 5,
  'log in': 1,
  refresh: 1,
}
export type Kind = keyof typeof rates
export const kinds = Object.keys(rates) as Kind[]

/** The number of tokens that idle for longer than a key is cached. */
export function coldTokensFor(keptSeconds: number): number {
  return Math.ceil(rates['resolve by a cold key'] * keptSeconds * 1.25)
}

const traffics: Record<Kind, (subject: Subject) => Traffic | Promise<Traffic>> = {
  resolve: (subject) => calls(subject, subject.hotTokens),
  'resolve by a cold key': (subject) => calls(subject, subject.coldTokens),
  'deliver 100': delivery,
  'list 100 names': (subject) => reading(subject, listPath(subject, '')),
  'list 100 values': (subject) => reading(subject, listPath(subject, '&include=value')),
  'read a secret': (subject) => reading(subject, secretPath(subject)),
  'write a secret': writing,
  'audit page': auditPage,
  'log in': loggingIn,
  refresh: refreshing,
}

export async function trafficOf(kind: Kind, subject: Subject): Promise<Traffic> {
  return await traffics[kind](subject)
}

/** The tokens one after the other. */
function calls({ server, upstream }: Subject, tokens: readonly string[]): Traffic {
  const body = JSON.stringify({
    target_url: `${upstream}/v1/charges`,
    headers: { Authorization: 'Bearer SVC_SECRET_API_KEY' },
  })
  let count = 0
  const setupRequest = (request: Request) => ({
    ...request,
    headers: headersOf(tokens[count++ % tokens.length]),
  })
  return {
    origin: server.resolver,
    requests: [{ method: 'POST', path: '/v1/resolve', body, setupRequest }],
  }
}

function delivery({ server, caller, hotTokens }: Subject): Traffic {
  const body = { project_id: caller.projectId, environment: ENVIRONMENT }
  return { origin: server.controlPlane, requests: [post(deliverEnvironment, body, hotTokens[0])] }
}

function reading({ server, writer }: Subject, path: string): Traffic {
  return { origin: server.controlPlane, requests: [as(writer, { method: 'GET', path })] }
}

/** With the newest session, because one lasts for 15 minutes. */
function as({ session }: Customer, request: Request): Request {
  const setupRequest = (built: Request) => ({ ...built, headers: headersOf(session.access) })
  return { ...request, setupRequest }
}

function listPath({ writer }: Subject, more: string): string {
  const path = listSecrets.path.replace('{project_id}', writer.projectId)
  return `${path}?environment=${ENVIRONMENT}&limit=${SECRETS}${more}`
}

function secretPath({ writer }: Subject): string {
  const path = getSecret.path.replace('{project_id}', writer.projectId)
  return `${path.replace('{key}', 'SECRET_7')}?environment=${ENVIRONMENT}`
}

/** Sealed in advance by the client, which is not measured. */
async function writing({ server, writer }: Subject): Promise<Traffic> {
  const requests: Request[] = []
  for (let index = 0; index < SECRETS; index += 1) {
    const body = await sealedBody(writer, `SECRET_${index}`)
    requests.push(as(writer, post(upsertSecrets, body)))
  }
  return { origin: server.controlPlane, requests }
}

/** The body that `upload` would send. */
async function sealedBody({ workspace, projectId }: Customer, key: string): Promise<unknown> {
  let sent: unknown
  const call = async (_endpoint: unknown, input: { body?: unknown }) => {
    sent = input.body
    return { created: 0, updated: 1 }
  }
  const api = { ...openApi('http://127.0.0.1:1'), call } as ReturnType<typeof openApi>
  const entry = { key, value: `load-${crypto.randomUUID()}`, policy: null }
  await uploadSecrets({ api, workspace, projectId, environment: ENVIRONMENT }, [entry], true)
  return sent
}

function auditPage({ server, caller }: Subject): Traffic {
  const path = `${listAuditLogs.path}?workspace_id=${caller.workspace.id}&limit=100`
  return { origin: server.controlPlane, requests: [as(caller, { method: 'GET', path })] }
}

async function loggingIn({ server, caller, writer }: Subject): Promise<Traffic> {
  const requests: Request[] = []
  for (const { session } of [caller, writer]) {
    const body = await credentialsOf(server, session.email)
    const onResponse = keep(({ access }) => {
      session.access = access
    })
    requests.push({ ...post(login, body), onResponse })
  }
  return { origin: server.controlPlane, requests }
}

/** Each answer has the token of the next request: for one connection. Without an answer a new session starts. */
async function refreshing({ server, writer }: Subject): Promise<Traffic> {
  const body = await credentialsOf(server, writer.session.email)
  const begin = async () => (await openApi(server.controlPlane).call(login, { body })).refresh
  let token = await begin()
  const setupRequest = (request: Request) => ({
    ...request,
    body: JSON.stringify({ refresh: token }),
  })
  const goOn = keep((next) => {
    token = next.refresh
  })
  const onResponse = (status: number, answer: string) => {
    goOn(status, answer)
    if (status >= 400)
      begin().then(
        (fresh) => {
          token = fresh
        },
        () => {},
      )
  }
  return {
    origin: server.controlPlane,
    requests: [{ ...post(refresh, {}), setupRequest, onResponse }],
  }
}

async function credentialsOf({ controlPlane }: Server, email: string) {
  const { key_salt, kdf } = await openApi(controlPlane).call(prelogin, { body: { email } })
  const masterKey = await deriveMasterKey(PASSWORD, fromBase64(key_salt) ?? new Uint8Array(), kdf)
  return { email, password: authKey(masterKey) }
}

type Tokens = { access: string; refresh: string }

function keep(use: (tokens: Tokens) => void) {
  return (status: number, body: string) => {
    if (status === 200) use((JSON.parse(body) as { data: Tokens }).data)
  }
}

function post({ path }: Endpoint, body: unknown, token?: string): Request {
  return { method: 'POST', path, headers: headersOf(token), body: JSON.stringify(body) }
}

function headersOf(token?: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
}
