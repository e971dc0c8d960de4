/** An environment for a program, opened here: by a token where there is one, else by the session. */

import {
  type AskedScope,
  type DeliveryMemory,
  InvalidToken,
} from '../../client/delivery/delivery.ts'
import type { Asked, Holder, SeenDelivery } from '../../client/delivery/fallback.ts'
import { type Reading, readSecrets } from '../../client/environment.ts'
import { openApi } from '../../client/http/api.ts'
import { toBase64 } from '../../core/crypto/encoding.ts'
import { parseToken, sealedToken } from '../../core/crypto/token.ts'
import { isDeliverable } from '../../core/policy/policy.ts'
import { type Entry, type Resolved, resolveReferences } from '../../core/policy/references.ts'
import { getVersion } from '../../features/workloads/contract.ts'
import type { Context } from '../context.ts'
import { environmentOf, type ProjectScope, projectScope } from '../scope.ts'
import {
  deliveredTo,
  environmentFor,
  namedEnvironment,
  namedProject,
  tokenOf,
  tokenRefusal,
} from '../tokens/given_token.ts'
import { openKnownDeliveries } from '../trust/known_deliveries.ts'
import { openedSecrets } from './sealing.ts'

/** The values by name as programs get them, with their references resolved. */
export type Delivered = Record<string, Resolved & { isOwn?: true | undefined }>

/** Where a program's environment comes from, for as long as it runs. */
export type Source = {
  /** @throws ApiError, CliError, UnresolvedReference, and what a server throws that is away */
  deliver(): Promise<Delivered>
  /** What changes whenever the environment does, without its values; throws the same. */
  version(): Promise<string>
  holder: Holder
  asked: Asked
  /** Of a token: what was verified last, and what is the oldest that is taken. */
  seen?: { last(): SeenDelivery | undefined; demand(seen: SeenDelivery): void }
}

type Options = {
  token: string | undefined
  allowEmpty: boolean | undefined
  mine: boolean | undefined
}

/** @throws CliError without a session or token */
export async function openSource(context: Context, options: Options): Promise<Source> {
  const token = tokenOf(context, options)
  return token ? ofToken(context, token) : ofSession(context, options)
}

async function ofToken(context: Context, token: string): Promise<Source> {
  const parsed = parseToken(token)
  if (!parsed) throw new InvalidToken(token)
  const server = await context.server()
  const named = { ...namedEnvironment(context), ...namedProject(context) }
  const { id, secret } = parsed
  const api = openApi(server, () => sealedToken(id, secret))
  const memory = openKnownDeliveries(context.env, id)
  const note = once(context.output.note)
  let last: SeenDelivery | undefined
  return {
    deliver: async () => {
      const environment = await environmentFor(context, token, 'server')
      const scope: AskedScope = { ...namedProject(context), ...environment }
      const opened = await openedForToken(context, token, scope, memory)
      last = opened.seen ?? undefined
      sayWithheld(note, opened)
      return resolvedFrom(opened)
    },
    seen: { last: () => last, demand: (seen) => memory.remember(seen, seen) },
    version: async () => {
      const { version } = await api.call(getVersion, {}).catch((error: unknown) => {
        throw tokenRefusal(error)
      })
      return String(version)
    },
    holder: { id, secret },
    asked: {
      server,
      workspace: '',
      project: named.project_id ?? '',
      environment: named.environment ?? '',
    },
  }
}

async function ofSession(context: Context, options: Options): Promise<Source> {
  const session = await context.session()
  // Asked for once, and the workspace's key each time: it may be another by then.
  const open = (reading: Reading) =>
    projectScope({ ...context, session: async () => session }, reading)
  const { settings, output } = context
  const [warn, note] = [once(output.warn), once(output.note)]
  return {
    deliver: async () => {
      const scope = await open({ include: 'value' })
      const opened = await openedForMember({ output: { ...output, warn } }, scope, options)
      if (opened === null) {
        const { refuseEmpty } = await import('../suggestions.ts')
        await refuseEmpty(scope, options)
        return {}
      }
      sayWithheld(note, opened)
      return resolvedFrom(opened)
    },
    version: async () => {
      const scope = await open({})
      const stored = await readSecrets(environmentOf(scope))
      const own = options.mine === false ? [] : [...session.own.of(scope)]
      return JSON.stringify([stored.map(({ id, version }) => [id, version]), own])
    },
    holder: { id: toBase64(session.publicKey), secret: session.privateKey },
    asked: {
      server: session.server,
      workspace: settings.workspace?.value ?? '',
      project: settings.project?.value ?? '',
      environment: context.setting('environment'),
    },
  }
}

/** Of a token's delivery it is the server that says why: it shows no policy of what it leaves out. */
function sayWithheld(note: (text: string) => void, { withheld = [] }: Opened): void {
  const names = [...withheld].sort().join(', ')
  if (names) note(`left out, for their policies do not list env: ${names}`)
}

/** The same sentence again says nothing. */
function once(warn: Context['output']['warn']): Context['output']['warn'] {
  let last = ''
  return (text) => {
    if (text !== last) warn(text)
    last = text
  }
}

/** An environment as it is stored, with the names of which the person has a value of their own. */
export type Opened = {
  entries: ReadonlyMap<string, Entry>
  own: ReadonlySet<string>
  /** Names that stay where they are, by their policies. */
  withheld?: readonly string[] | undefined
}

/** @throws ApiError, CliError */
export async function openedForToken(
  context: Context,
  token: string,
  scope: AskedScope,
  memory?: DeliveryMemory,
) {
  const delivery = await deliveredTo(context, token, scope, memory)
  const { open, projectId, environment, seen, withheld } = delivery
  return {
    entries: await open(),
    own: new Set<string>(),
    withheld,
    seen: seen && { projectId, environment, ...seen },
  }
}

/** As programs get them: all, or some. @throws UnresolvedReference */
export function resolvedFrom(
  { entries, own }: Pick<Opened, 'entries' | 'own'>,
  names: Iterable<string> = entries.keys(),
): Delivered {
  const resolved = resolveReferences(entries, names)
  return Object.fromEntries(
    [...resolved].map(([name, value]) => [name, own.has(name) ? { ...value, isOwn: true } : value]),
  )
}

/**
 * Secrets whose policy does not list `env` stay where they are, as in delivery by token; `null` for an
 * environment that has none at all. Values of the person's own stand in for those that all have.
 */
export async function openedForMember(
  { output }: Pick<Context, 'output'>,
  scope: ProjectScope,
  { mine }: { mine: boolean | undefined },
): Promise<Opened | null> {
  const { session } = scope
  const stored = await readSecrets(environmentOf(scope), { include: 'value' })
  const kept = stored.filter(({ policy }) => !isDeliverable(policy)).map(({ key }) => key)
  const own = mine === false ? new Map<string, Entry>() : session.own.of(scope)
  for (const name of kept) own.delete(name)
  if (stored.length === 0 && own.size === 0) return null
  const meant = stored.filter(({ key }) => !own.has(key))
  const opened = openedSecrets(scope, meant)
  // That they open proves their policies: a server cannot keep a value from a program by a policy of its own.
  for (const name of kept) opened.delete(name)
  sayOwn(output, scope, [...own.keys()])
  return {
    entries: new Map([...opened, ...own]),
    own: new Set(own.keys()),
    withheld: kept,
  }
}

/** Nobody is to look for a fault in what others have. */
export function sayOwn(
  output: Context['output'],
  { project, environment }: ProjectScope,
  names: readonly string[],
): void {
  if (names.length === 0) return
  const which = `${project.name}/${environment}: ${[...names].sort().join(', ')}`
  output.warn(`your own values are in force in ${which} (--no-mine leaves them out)`)
}
