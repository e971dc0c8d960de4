/**
 * Connections. The local console runs the flow, and this worker seals its result. A server could read the tokens of a
 * flow that it ran, so a server's page shows a command instead and waits for the secret.
 */
import { uploadSecrets } from '../../../../../client/actions/set_secrets.ts'
import { readProvenValue, readProvenValues } from '../../../../../client/actions/stored_secrets.ts'
import { connectCommand, reconnectCommand } from '../../../../../client/connect/command_line.ts'
import { presets } from '../../../../../client/connect/presets.ts'
import { readSecrets } from '../../../../../client/environment.ts'
import type { CallResult } from '../../../../../client/http/api.ts'
import { renewalOf } from '../../../../../client/secrets/renewal_state.ts'
import type { Policy } from '../../../../../core/policy/policy.ts'
import {
  type ConnectionChoice,
  endConnection,
  readConnection,
  startConnection,
} from '../../../../connecting/contract.ts'
import { Refused } from '../../failure.ts'
import { environmentAt, type Place } from '../../places.ts'
import type { UnlockedSession } from '../../unlocked_session.ts'
import { reviewHosts } from './hosts.ts'

export const connectionsCommands = {
  providers,
  start,
  reconnect,
  poll,
  cancel,
  command,
  arrived: findArrived,
}

/** Only this machine answers at such a name (RFC 6761, section 6.3). */
const LOCAL = /^cloakroom-[0-9a-f]{32}\.localhost$/

function isLocal(): boolean {
  return LOCAL.test(location.hostname)
}

/** Providers, with the fields that each one needs. */
function providers() {
  const listed = Object.entries(presets).map(([name, preset]) => ({
    name,
    title: preset.title,
    registerAt: preset.registerAt,
    scope: preset.scope ?? null,
    domains: preset.domains,
    hasDevice: preset.deviceUrl !== undefined,
    needsSecret: preset.clientAuth !== 'none',
    hasFixedRedirect: preset.hasFixedRedirect === true,
  }))
  return { isLocal: isLocal(), providers: listed }
}

type Secret = Place & { key: string }

/** A running flow, and where its root will be stored. The page passes it back unchanged. */
export type PendingConnection = Secret & { id: string; policy: Policy; expectedVersion: number }

/** An existing secret of this name is replaced once the flow has succeeded. @throws Unproven, ApiError */
async function start(
  session: UnlockedSession,
  { choice, ...secret }: Secret & { choice: ConnectionChoice },
) {
  demandLocal()
  const place = await environmentAt(session, secret)
  const before = (await readProvenValues(place, [secret.key])).get(secret.key)
  const started = await begin(session, secret.key, { choice })
  const policy: Policy = { kind: 'oauth2', allowed_domains: started.domains }
  return toShownConnection(
    { ...secret, id: started.id, policy, expectedVersion: before?.version ?? 0 },
    started,
  )
}

type Again = { authorizeUrl?: string; issuer?: string; redirectUri?: string; device?: boolean }

/** Connects again with the stored client, scope and policy. @throws Unproven, ApiError, Refused `not_connected` */
async function reconnect(
  session: UnlockedSession,
  { again, ...secret }: Secret & { again?: Again },
) {
  demandLocal()
  const place = await environmentAt(session, secret)
  const { value: root, policy, version } = await readProvenValue(place, secret.key)
  if (policy?.kind !== 'oauth2') throw new Refused('not_connected')
  const started = await begin(session, secret.key, { stored: { root, ...again } })
  return toShownConnection({ ...secret, id: started.id, policy, expectedVersion: version }, started)
}

/** @throws Refused `connect_elsewhere` */
function demandLocal(): void {
  if (!isLocal()) throw new Refused('connect_elsewhere')
}

type Flow = { choice: ConnectionChoice } | { stored: { root: string } & Again }
type Started = CallResult<typeof startConnection>

function begin({ api }: UnlockedSession, key: string, flow: Flow): Promise<Started> {
  return api.call(startConnection, { body: { key, flow } })
}

function toShownConnection(connection: PendingConnection, { url, device, expiresAt }: Started) {
  return { connection, url, device, expiresAt }
}

/**
 * Stores the root as soon as the flow returns it.
 *
 * @throws ApiError with a `connect_` code for a failed flow. After any other error, a retry can succeed
 */
async function poll(
  session: UnlockedSession,
  { connection, allow }: { connection: PendingConnection; allow: boolean },
) {
  const { id, key, policy, expectedVersion } = connection
  const place = await environmentAt(session, connection)
  const { root } = await session.api.call(readConnection, { params: { connection_id: id } })
  if (root === null) return { state: 'waiting' } as const
  await uploadSecrets(place, [{ key, value: root, policy, expectedVersion }], true)
  // The flow also ends by itself.
  await cancel(session, { connection }).catch(() => {})
  return { state: 'stored', key, ...(await reviewHosts(place, root, policy, allow)) } as const
}

/** Ends a flow. A finished flow is ignored. */
async function cancel(
  { api }: UnlockedSession,
  { connection: { id } }: { connection: Pick<PendingConnection, 'id'> },
) {
  await api.call(endConnection, { params: { connection_id: id } })
}

type Typed = { workspace: string; project: string; environment: string; key: string }
type CommandInput = Typed & {
  /** Null to connect again with what is stored. */
  choice: (Omit<ConnectionChoice, 'clientSecret' | 'clientAuth'> & { isPublic?: boolean }) | null
}

/** The command for a terminal on the user's machine, with the names of workspace and project. */
function command(_: UnlockedSession, { choice, ...typed }: CommandInput) {
  return { command: choice === null ? reconnectCommand(typed) : connectCommand(typed, choice) }
}

/** A version later than `after` (0 for a new secret), or null until one is stored. */
async function findArrived(
  session: UnlockedSession,
  { key, after, ...at }: Secret & { after: number },
) {
  const secrets = await readSecrets(await environmentAt(session, at))
  const found = secrets.find((secret) => secret.key === key && secret.version > after)
  if (found === undefined) return null
  const policy = (found.policy ?? null) as Policy | null
  return { version: found.version, renewal: renewalOf(policy, found.derived) }
}
