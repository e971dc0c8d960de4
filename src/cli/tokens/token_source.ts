/** An environment for a program, delivered to a token and opened here. */
import {
  type AskedScope,
  type DeliveryMemory,
  InvalidToken,
} from '../../client/delivery/delivery.ts'
import type { SeenDelivery } from '../../client/delivery/fallback.ts'
import { openApi } from '../../client/http/api.ts'
import { formatSealedToken, parseToken } from '../../core/crypto/token.ts'
import { getVersion } from '../../features/workloads/contract.ts'
import type { Context } from '../context.ts'
import { openKnownDeliveries } from '../trust/known_deliveries.ts'
import {
  noteWithheld,
  resolveEntries,
  type Source,
  warnOnce,
  warnUnavailable,
} from '../values/delivered.ts'
import {
  environmentFor,
  readDelivery,
  readNamedEnvironment,
  readNamedProject,
  tokenRefusal,
} from './given_token.ts'

/** @throws InvalidToken, CliError */
export async function tokenSource(context: Context, token: string): Promise<Source> {
  const parsed = parseToken(token)
  if (!parsed) throw new InvalidToken(token)
  const server = await context.server()
  const named = { ...readNamedEnvironment(context), ...readNamedProject(context) }
  const { id, secret } = parsed
  const api = openApi(server, () => formatSealedToken(id, secret))
  const memory = openKnownDeliveries(context.env, id)
  const [note, warn] = [warnOnce(context.output.note), warnOnce(context.output.warn)]
  let last: SeenDelivery | undefined
  return {
    deliver: async () => {
      const environment = await environmentFor(context, token, 'server')
      const scope: AskedScope = { ...readNamedProject(context), ...environment }
      const opened = await openForToken(context, token, scope, memory)
      last = opened.seen ?? undefined
      noteWithheld(note, opened)
      warnUnavailable(warn, opened.unavailable)
      return resolveEntries(opened)
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

/** @throws ApiError, CliError */
export async function openForToken(
  context: Context,
  token: string,
  scope: AskedScope,
  memory?: DeliveryMemory,
) {
  const delivery = await readDelivery(context, token, scope, memory)
  const { open, projectId, environment, seen, withheld, held, unavailable } = delivery
  return {
    entries: await open(),
    unavailable,
    own: new Set<string>(),
    withheld,
    held,
    seen: seen && { projectId, environment, ...seen },
  }
}
