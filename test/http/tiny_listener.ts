/** The request pipeline over a few routes and no database, to test `serve` itself. */
import { z } from 'zod'
import { BodyMemory } from '../../src/core/body_memory.ts'
import type { Rate } from '../../src/core/config/config.ts'
import { Fault } from '../../src/core/fault.ts'
import type { Caller, Grant, Permission, ResourceRef } from '../../src/core/grant.ts'
import { openLog } from '../../src/core/log.ts'
import { hostCheck } from '../../src/core/net/host.ts'
import { networkNamer, originNamer } from '../../src/core/net/network.ts'
import { pagination, uuid } from '../../src/core/validation/validate.ts'
import { RateLimiter } from '../../src/database/limits/rate.ts'
import type { Database } from '../../src/database/open.ts'
import { defineEndpoint } from '../../src/http/endpoint.ts'
import { openPager } from '../../src/http/page.ts'
import type { BoundAudit, Recorder } from '../../src/http/recorder.ts'
import { Download, replyCreated, type Surface } from '../../src/http/reply.ts'
import {
  createPreparedRoute,
  createRawRoute,
  listRoute,
  type Route,
  route,
} from '../../src/http/route.ts'
import { type Listener, serve } from '../../src/http/serve.ts'

/** Every call that reached a handler or authorisation, in order. */
export type Event = string

export type TinyListener = {
  origin: string
  listener: Listener
  events: Event[]
  /** Workspaces for which a change was announced. */
  notices: string[]
  logs: string[]
  /** Requests that have begun. */
  begun(): number
  /** Moves with `advance`. */
  clock: { now(): number; advance(ms: number): void }
}

export const WORKSPACE = '018f0000-0000-7000-8000-000000000001'
export const PROJECT = '018f0000-0000-7000-8000-000000000002'
/** The only valid bearer; `reader` is one without the right to write. */
export const CALLER = 'caller'
export const READER = 'reader'

const hello = defineEndpoint({
  name: 'tiny.hello',
  summary: 'Greet',
  method: 'GET',
  path: '/hello/',
  access: { kind: 'public' },
  query: z.strictObject({ name: z.string().max(20).optional() }),
  result: z.object({ name: z.string() }),
})

const echo = defineEndpoint({
  name: 'tiny.echo',
  summary: 'Answer what was sent',
  method: 'POST',
  unrecorded: 'nothing is kept here',
  path: '/echo/',
  access: { kind: 'public', rate: 'login' },
  body: z.unknown(),
  bodyLimit: 2048,
  result: z.unknown(),
})

const optional = defineEndpoint({
  name: 'tiny.optional',
  summary: 'Take a body or none',
  method: 'POST',
  unrecorded: 'nothing is kept here',
  path: '/optional/',
  access: { kind: 'public' },
  body: z.strictObject({ word: z.string().optional() }),
  bodyOptional: true,
  result: z.object({ word: z.string().nullable() }),
})

const readItem = defineEndpoint({
  name: 'tiny.items.read',
  summary: 'Read an item',
  method: 'GET',
  path: '/items/{workspace_id}/{item}/',
  access: { kind: 'member', permission: 'workspace.read', tenant: 'path.workspace_id' },
  params: z.object({ workspace_id: uuid, item: z.string().regex(/^[a-z%/]+$/) }),
  result: z.object({ item: z.string() }),
})

const writeItem = defineEndpoint({
  name: 'tiny.items.write',
  summary: 'Write an item',
  method: 'PUT',
  path: '/items/{workspace_id}/{item}/',
  access: { kind: 'member', permission: 'workspace.update', tenant: 'path.workspace_id' },
  params: z.object({ workspace_id: uuid, item: z.string().regex(/^[a-z%/]+$/) }),
  body: z.strictObject({ text: z.string() }),
  success: 'either',
  result: z.object({ text: z.string() }),
})

const prepareItem = defineEndpoint({
  ...writeItem,
  name: 'tiny.items.prepare',
  path: '/prepared/{workspace_id}/{item}/',
})

const inBody = defineEndpoint({
  name: 'tiny.in_body',
  summary: 'Name the tenant in the body',
  method: 'POST',
  path: '/in-body/',
  access: { kind: 'member', permission: 'secret.write', tenant: 'body.project_id' },
  body: z.strictObject({ project_id: uuid }),
})

const active = defineEndpoint({
  name: 'tiny.active',
  summary: 'Name the tenant in a header, the query or the body',
  method: 'POST',
  path: '/active/',
  access: { kind: 'member', permission: 'project.write', tenant: 'active' },
  body: z.strictObject({ workspace_id: uuid.optional() }),
})

/** The path determines what the handler does with its record. */
const change = defineEndpoint({
  name: 'tiny.change',
  summary: 'Change something, and say so or not',
  method: 'POST',
  path: '/change/{workspace_id}/{how}/',
  access: { kind: 'member', permission: 'workspace.update', tenant: 'path.workspace_id' },
  params: z.object({ workspace_id: uuid, how: z.string() }),
})

const changeAlone = defineEndpoint({
  name: 'tiny.change_alone',
  summary: 'The same without a grant',
  method: 'DELETE',
  path: '/change-alone/{how}/',
  access: { kind: 'session' },
  params: z.object({ how: z.string() }),
})

const list = defineEndpoint({
  name: 'tiny.list',
  summary: 'List the sessions',
  method: 'GET',
  path: '/list/',
  access: { kind: 'session' },
  query: pagination,
  result: z.array(z.string()),
  paged: true,
})

const pour = defineEndpoint({
  name: 'tiny.pour',
  summary: 'Make a file for a while',
  method: 'GET',
  path: '/pour/',
  access: { kind: 'public' },
  mediaType: 'text/plain',
})

const fails = defineEndpoint({
  name: 'tiny.fails',
  summary: 'Fail in the way that the path names',
  method: 'POST',
  unrecorded: 'nothing is kept here',
  path: '/fails/{how}/',
  access: { kind: 'public' },
  params: z.object({ how: z.string() }),
  result: z.object({ right: z.string() }),
})

const raw = defineEndpoint({
  name: 'tiny.raw',
  summary: 'Tell the whole story itself',
  method: 'POST',
  path: '/raw/{thing}/',
  access: { kind: 'token', capability: 'use' },
})

function tinyRoutes(events: Event[]): Route[] {
  const note = (event: Event) => events.push(event)
  return [
    route(hello, ({ query }) => {
      note('hello')
      return { name: query.name ?? 'nobody' }
    }),
    route(echo, ({ body }) => {
      note('echo')
      return body
    }),
    route(optional, ({ body }) => ({ word: body.word ?? null })),
    route(readItem, async ({ params }) => {
      note('read')
      return { item: params.item }
    }),
    route(writeItem, async ({ body, audit }) => {
      note('write')
      audit.unchanged()
      return body.text === 'new' ? replyCreated(body) : body
    }),
    createPreparedRoute(
      prepareItem,
      async () => void note('prepare'),
      async ({ body, audit }) => {
        note('write')
        audit.unchanged()
        return body
      },
    ),
    route(inBody, async ({ audit }) => recordChange('unchanged', audit)),
    route(active, async ({ audit }) => recordChange('unchanged', audit)),
    route(change, async ({ audit, params: { how } }) => recordChange(how, audit)),
    route(changeAlone, async ({ caller, transaction, params: { how } }) => {
      if (how === 'outside') return undefined
      return transaction(async (_tx, audit) => {
        if (how === 'unbound') return recordChange('recorded', audit as Recorder)
        if (how !== 'unchanged') audit.by({ ...caller, workspaceId: WORKSPACE })
        return recordChange(how, audit as Recorder)
      })
    }),
    listRoute(list, () => ({
      name: 'list',
      read: async () => [],
      sortKey: (item: string) => [item],
    })),
    route(pour, () => new Download('slow.txt', drops)),
    route(fails, ({ params: { how } }) => failure(how)),
    createRawRoute(raw, async ({ params, holdOpen, putOff }) => {
      const [how, ms] = params.thing?.split('-') ?? []
      if (how === 'held') holdOpen()
      // The runtime's own idle timer is the subject, which uses the real clock only.
      if (ms) await Bun.sleep(Number(ms))
      if (how === 'held') putOff()
      return Response.json(params)
    }),
  ]
}

/** Takes longer than a listener with a short idle timeout waits. */
async function* drops(): AsyncGenerator<string, void> {
  for (let drop = 0; drop < 18; drop += 1) {
    yield '.'
    // Real time, because the runtime's idle timer uses the real clock only.
    await Bun.sleep(500)
  }
}

function recordChange(how: string, audit: BoundAudit): undefined {
  const resource = { type: 'thing', id: null, name: how }
  if (how === 'recorded') audit.record({ action: 'project.created', resource })
  if (how === 'both') audit.record({ action: 'project.updated', resource })
  if (how === 'unchanged' || how === 'both') audit.unchanged()
}

function failure(how: string): { right: string } {
  if (how === 'database') {
    throw Object.assign(new Error('select secret from t where x = hunter2'), {
      code: 'ECONNREFUSED',
    })
  }
  if (how === 'defect') throw new TypeError('hunter2 is not a function')
  if (how === 'not-an-error') throw 'hunter2'
  if (how === 'shape') return JSON.parse('{"wrong":"hunter2"}')
  throw new Fault('conflict', { message: 'Somebody was faster.' })
}

type Options = {
  loginRate?: Rate
  apiRate?: Rate
  surface?: Surface
  idleSeconds?: number
}

/** Starts the tiny application on a free port; `close` its listener at the end. */
export function openTiny({
  loginRate = { count: 10_000, seconds: 60 },
  apiRate = { count: 10_000, seconds: 10 },
  surface = 'control-plane',
  idleSeconds = 30,
}: Options = {}): TinyListener {
  const events: Event[] = []
  const notices: string[] = []
  const logs: string[] = []
  let [offset, begun] = [0, 0]
  const checkHost = hostCheck(['127.0.0.1', 'localhost', '.example.com'])
  const clock = {
    now: () => 1_800_000_000_000 + offset,
    advance: (ms: number) => {
      offset += ms
    },
  }
  const listener = serve({
    surface,
    routes: tinyRoutes(events),
    db: fakeDatabase(events),
    storeChanges: async (_tx, actor, changes) => {
      for (const { action } of changes) events.push(`${actor.email} ${action}`)
    },
    storeDenial: async (_db, actor, action) => {
      events.push(`denied ${actor.email} ${action}`)
    },
    identity: {
      authenticate: async (headers) => authenticate(headers),
      authorise: async (_db, caller, permission, resource) => {
        events.push(`authorise ${permission} ${JSON.stringify(resource)}`)
        return authorise(caller, permission, resource)
      },
      recall: () => null,
      recallGrant: () => null,
    },
    onChange: (workspaceId) => void notices.push(workspaceId),
    checkHost: (host) => {
      begun += 1
      checkHost(host)
    },
    bodies: new BodyMemory(),
    networkOf: networkNamer([]),
    originOf: originNamer([]),
    limits: {
      register: new RateLimiter({ count: 5, seconds: 60 }, clock),
      login: new RateLimiter(loginRate, clock),
      api: new RateLimiter(apiRate, clock),
    },
    readPage: openPager({ SECRET_KEY: 'a secret key of at least 32 characters' }),
    log: openLog('debug', (line) => logs.push(line)),
    isStopping: () => false,
  })
  const origin = listener.open({ hostname: '127.0.0.1', port: 0, idleSeconds })
  return { origin, listener, events, notices, logs, begun: () => begun, clock }
}

/** Transactions here have no effect, but report how they ended. */
function fakeDatabase(events: Event[]): Database {
  const database = {
    execute: async () => [],
    transaction: async (act: (tx: unknown) => unknown) => {
      try {
        return await act(database)
      } catch (error) {
        events.push('rollback')
        throw error
      }
    },
  }
  return database as unknown as Database
}

function authenticate(headers: Headers): Caller {
  const [, name] = /^Bearer (caller|reader)$/.exec(headers.get('authorization') ?? '') ?? []
  if (!name) throw new Fault('invalid_token')
  return { userId: name, email: `${name}@example.com`, sessionId: name, isInstanceOwner: false }
}

function authorise(caller: Caller, permission: Permission, resource: ResourceRef): Grant {
  const named = resource.projectId ?? resource.workspaceId ?? WORKSPACE
  if (named !== WORKSPACE && named !== PROJECT) throw new Fault('not_found')
  if (caller.userId === READER && !permission.endsWith('.read')) throw new Fault('forbidden')
  return {
    workspaceId: WORKSPACE,
    userId: caller.userId,
    email: caller.email,
    role: 'owner',
  } as Grant
}
