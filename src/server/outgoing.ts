/** The services of a process that send to upstreams and token endpoints, for calls and deliveries. */
import type postgres from 'postgres'
import type { Access } from '../access/index.ts'
import { Approvals } from '../approvals/approvals.ts'
import type { Timers } from '../core/async/timers.ts'
import type { Bus } from '../database/notify.ts'
import type { FeatureServices } from '../http/services.ts'
import { Notices } from '../notices/notices.ts'
import { NoticeSender } from '../notices/sender.ts'
import type { Lookup } from '../outbound/connection/address_lookup.ts'
import { openOutbound } from '../outbound/index.ts'
import { Leases } from '../renewal/leases.ts'
import { Renewals } from '../renewal/renewals.ts'
import { openResolver, type Resolver } from '../resolver/index.ts'

type Options = {
  access: Access
  sql: postgres.Sql
  lookup: Lookup | undefined
  /** Ports of this machine that may not be connected to. */
  ownPorts: () => readonly number[]
  timers: Timers
  bus: Bus
  /** Called when a workspace has a new derived credential. */
  onChange(workspaceId: string): void
}

export type OutgoingServices = {
  resolver: Resolver
  renewals: Renewals
  approvals: Approvals
  notices: Notices
  /** Stores sent renewals first. */
  close(): Promise<void>
}

/** @throws ConfigError when RESOLVER_CA_FILE cannot be read */
export function openOutgoing(services: FeatureServices, options: Options): OutgoingServices {
  const { access, sql, timers, bus } = options
  const { log, outer } = services
  const outbound = openOutbound({ ...services, ...options })
  const leases = new Leases(sql, outer)
  const { trail } = access
  const notices = new Notices(services)
  const onChange = async (workspaceId: string) => {
    options.onChange(workspaceId)
    access.snapshots.forget(workspaceId)
    await resolver.follow(workspaceId)
  }
  const renewals = new Renewals({ timers, leases, trail, outbound, notices, log, onChange })
  // A control plane without a resolver connects only to its database (docs/guides/kubernetes.md).
  const isSending = services.config.ROLE !== 'control-plane'
  const sender = isSending
    ? new NoticeSender({ ...services, outbound, timers }, notices, bus)
    : null
  const approvals = new Approvals({ sql, outer, timers, log, notices })
  const resolver: Resolver = openResolver(services, {
    ...{ access, outbound, renewals, approvals, notices, timers },
  })
  return {
    resolver,
    renewals,
    approvals,
    notices,
    close: async () => {
      await resolver.close()
      approvals.close()
      await Promise.all([renewals.close(), sender?.close()])
      outbound.fetcher.close()
      outbound.http2.close()
    },
  }
}
