/** TLS of a cluster. */
import { chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Authority, createAuthority } from '../../src/cli/demo/certificates.ts'
import { unprivileged } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { type FaultCluster, startFaultCluster } from './cluster.ts'

/** From now on, the cluster has a certificate for that name. */
export async function serveAs(
  { ask, home }: FaultCluster,
  authority: Authority,
  name: string,
): Promise<void> {
  const { cert, key } = await authority.issue([name])
  const loaded = async () => (await ask('select pg_conf_load_time()::text as at'))[0]?.at
  const before = await loaded()
  const owner = unprivileged()
  for (const [option, text] of [
    ['ssl_cert_file', cert],
    ['ssl_key_file', key],
  ] as const) {
    const path = join(home, option)
    writeFileSync(path, text, { mode: 0o600 })
    if (owner) chownSync(path, owner.uid, owner.gid)
    await ask(`alter system set ${option} = '${path}'`)
  }
  await ask('alter system set ssl = on')
  await ask('select pg_reload_conf()')
  await until(async () => (await loaded()) !== before)
}

export type SecureCluster = {
  port: number
  password: string
  authority: Authority
  ask: FaultCluster['ask']
  remove: FaultCluster['remove']
}

/** A cluster with an empty database `cloakroom`. It accepts a password over TLS only, as `localhost`. */
export async function startSecureCluster(): Promise<SecureCluster> {
  const cluster = await startFaultCluster()
  const password = 'a-long-random-password'
  const authority = await createAuthority('Authority of the database')
  writeFileSync(
    join(cluster.home, 'data/pg_hba.conf'),
    'local all all trust\nhostssl all all all scram-sha-256\n',
  )
  await cluster.ask(`alter user cloakroom password '${password}'`)
  await cluster.ask('create database cloakroom')
  await serveAs(cluster, authority, 'localhost')
  const { port, ask, remove } = cluster
  return { port, password, authority, ask, remove }
}
