/** The hosts that may receive credentials. No host is allowed until an admin adds it. */

import { Fault } from '../../core/fault.ts'
import type { Grant } from '../../core/grant.ts'
import { requireQuota } from '../../database/limits/quota.ts'
import { lockWorkspace } from '../../database/workspace_lock.ts'
import type { AuditAction, Change } from '../../http/recorder.ts'
import { replyCreated } from '../../http/reply.ts'
import { type Changing, listRoute, type Route, route } from '../../http/route.ts'
import type { SignedText } from '../../sigchain/index.ts'
import { acceptLink, type Claim, chainOf, type SignedServices } from '../links/index.ts'
import {
  addToAllowlist,
  listAllowlist,
  listAllowlistLog,
  removeFromAllowlist,
  removeLogFromAllowlist,
} from './contract.ts'
import {
  deleteEntry,
  insertEntries,
  insertLog,
  selectAllowlistLog,
  selectEntries,
} from './queries.ts'

export function allowlistRoutes(services: SignedServices): Route[] {
  return [
    listRoute(listAllowlist, ({ tx, grant }) => ({
      name: 'allowlist',
      read: (page) => selectEntries(tx, grant, page),
      sortKey: ({ domain }) => [domain],
    })),
    route(addToAllowlist, ({ body, ...changing }) => add(changing, services, body)),
    route(removeFromAllowlist, ({ params: { domain }, body, ...changing }) =>
      remove(changing, services, { domain, ...body }),
    ),
    route(removeLogFromAllowlist, ({ body, ...changing }) =>
      remove(changing, services, { domain: 'log', ...body }),
    ),
    listRoute(listAllowlistLog, ({ tx, grant }) => ({
      name: 'allowlist.log',
      read: (page) => selectAllowlistLog(tx, grant, page),
      sortKey: ({ id }) => [id],
    })),
  ]
}

type Writing = Changing<Grant<'allowlist.write'>>
type Sent = { link?: SignedText | undefined }

/** In a signed workspace, the chain decides which hosts are new. The rows are a copy of it. */
async function add(
  changing: Writing,
  services: SignedServices,
  { domains, link }: Sent & { domains: readonly string[] },
) {
  const { tx, grant, audit } = changing
  const [, chain] = await Promise.all([lockWorkspace(tx, grant), chainOf(changing, services)])
  const unsigned = [...new Set(domains)].filter((domain) => !chain?.allowlist.has(domain))
  const body = { add: unsigned, remove: [] }
  const claim: Claim | null = unsigned.length > 0 ? { type: 'allowlist.changed', body } : null
  await acceptLink(changing, chain, link, claim)
  const entries = await insertEntries(tx, grant, domains)
  if (entries.length > 0) await requireQuota(tx, services.config, 'hosts', grant.workspaceId)
  const added = chain ? unsigned : entries.map(({ domain }) => domain)
  if (added.length === 0) {
    audit.unchanged()
    return entries
  }
  audit.record(...added.map((domain) => change('allowlist.added', domain)))
  await insertLog(tx, grant, 'added', added)
  return replyCreated(entries)
}

async function remove(
  changing: Writing,
  services: SignedServices,
  { domain, link }: Sent & { domain: string },
): Promise<undefined> {
  const { tx, grant, audit } = changing
  const [, chain] = await Promise.all([lockWorkspace(tx, grant), chainOf(changing, services)])
  const isSigned = chain?.allowlist.has(domain) ?? false
  const body = { add: [], remove: [domain] }
  await acceptLink(changing, chain, link, isSigned ? { type: 'allowlist.changed', body } : null)
  audit.record(change('allowlist.removed', domain))
  const [isDeleted] = await Promise.all([
    deleteEntry(tx, grant, domain),
    insertLog(tx, grant, 'removed', [domain]),
  ])
  if (!isDeleted && !isSigned) throw new Fault('not_found')
}

function change(action: AuditAction, domain: string): Change {
  return { action, resource: { type: 'domain', id: null, name: domain } }
}
