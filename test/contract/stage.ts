/** A separate server with data, for clients that are generated from its documents. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import { type Program, startProgram } from '../binary/executable.ts'
import { type AgentToken, type Customer, createAgent, enrol } from '../binary/independent_client.ts'
import { startUpstream } from '../support/upstream.ts'

const HOST = 'api.upstream.example'
const MANY = '1000000/1'
export const CRON_SECRET = 'of-the-test-of-the-test-of-the-test-of'

export type ContractStage = {
  server: Program
  customer: Customer
  /** The token may use and read. */
  agent: AgentToken
  /** An external API, in the form of the allowlist. */
  upstream: string
  directory: string
  stop(): Promise<void>
}

export async function openContractStage(): Promise<ContractStage> {
  const directory = mkdtempSync(join(tmpdir(), 'cr-contract-'))
  const authority = await createAuthority('Test authority')
  const caFile = join(directory, 'ca.pem')
  writeFileSync(caFile, authority.certificate)
  const api = await startUpstream(authority, { names: [HOST] })
  const rates = ['RATE_REGISTER', 'RATE_LOGIN', 'RATE_API', 'RATE_TOKEN']
  const server = await startProgram({
    cwd: directory,
    env: {
      ...Object.fromEntries(rates.map((name) => [name, MANY])),
      DATA_DIR: join(directory, 'data'),
      CRON_SECRET,
      RESOLVER_HOSTS: `${HOST}=127.0.0.1`,
      RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
      RESOLVER_CA_FILE: caFile,
    },
  })
  const customer = await enrol(server.controlPlane)
  await customer.upload({ STRIPE_API_KEY: 'sk_live_0123456789abcdef', MODE: 'live' })
  const agent = await createAgent(customer, ['use', 'read'])
  const upstream = `${HOST}:${api.port}`
  await customer.call('POST', `/api/workspaces/${customer.workspaceId}/allowlist/`, {
    domain: upstream,
  })
  return {
    server,
    customer,
    agent,
    upstream,
    directory,
    stop: async () => {
      server.signal('SIGKILL')
      await server.ended
      await api.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
