/**
 * Writes to signed workspaces as a load. A workspace accepts writes one after the other, each with the next revision
 * of its manifest, so each connection has its own workspace. Requests are signed before the measurement starts.
 */
import { type MemberSigner, signManifest } from '../../src/client/signed/statements.ts'
import { listSecrets, upsertSecrets } from '../../src/features/secrets/contract.ts'
import {
  type Customer,
  ENVIRONMENT,
  headersOf,
  registerCustomer,
  storeSecrets,
  valuesOf,
} from './customer.ts'
import type { LoadResult } from './load.ts'
import { percentile, timed } from './measure.ts'
import type { Server } from './server.ts'

/** Per connection; more would have to be signed in advance. */
const MOST_PER_SECOND = 200

export type Writer = {
  projectId: string
  headers: Record<string, string>
  /** The stored ciphertext is written again, so the manifest's root stays. */
  secrets: Record<string, string>
  signer: MemberSigner
  revision: number
  root: string
}

/** Signed workspaces with the bench's secrets, one of which each writer replaces. */
export async function openWriters(
  server: Pick<Server, 'controlPlane'>,
  count: number,
  key: string,
): Promise<Writer[]> {
  const writers: Writer[] = []
  while (writers.length < count) {
    const customer = await registerCustomer(server, 'signed')
    await storeSecrets(customer, valuesOf('first'))
    writers.push(await openWriter(customer, key))
  }
  return writers
}

async function openWriter(customer: Customer, key: string): Promise<Writer> {
  const { session, workspace, projectId } = customer
  const { data, beside } = await session.api.whole(listSecrets, {
    params: { project_id: projectId },
    query: { environment: ENVIRONMENT, include: 'value' },
  })
  const signer = await workspace.signer('secret.write')
  const value = data.find((secret) => secret.key === key)?.value
  if (!signer || !beside.manifest || value === undefined) throw new Error('not a signed workspace')
  const { revision, root } = JSON.parse(beside.manifest.statement)
  return {
    projectId,
    headers: headersOf(customer),
    secrets: { [key]: value },
    signer,
    revision,
    root,
  }
}

/** Each connection uses `fetch`, for the product and for bare, so compare p50 with bare's only. */
export async function writeSigned(
  origin: string,
  writers: readonly Writer[],
  seconds: number,
): Promise<LoadResult> {
  const most = seconds * MOST_PER_SECOND
  const signed = await Promise.all(writers.map((writer) => signAhead(writer, most)))
  const latencies: number[] = []
  let failures = 0
  const started = performance.now()
  const elapsed = () => (performance.now() - started) / 1000
  const write = async (writer: Writer, body: string) => {
    const init = { method: upsertSecrets.method, headers: writer.headers, body }
    const answer = await fetch(`${origin}${upsertSecrets.path}`, init)
    await answer.text()
    if (answer.ok) writer.revision += 1
    else failures += 1
  }
  const connections = writers.map(async (writer, index) => {
    for (const body of signed[index] ?? []) {
      if (elapsed() > seconds) return
      latencies.push(await timed(() => write(writer, body)))
    }
  })
  await Promise.all(connections)
  return {
    requests: latencies.length,
    failures,
    seconds: elapsed(),
    p50Ms: percentile(latencies, 50),
    p99Ms: percentile(latencies, 99),
  }
}

function signAhead(writer: Writer, count: number): Promise<string[]> {
  const { projectId, secrets, signer, revision, root } = writer
  const place = { projectId, environment: ENVIRONMENT }
  const bodies = Array.from({ length: count }, async (_, index) => {
    const manifest = await signManifest(signer, place, { revision: revision + 1 + index, root })
    return JSON.stringify({ project_id: projectId, environment: ENVIRONMENT, secrets, manifest })
  })
  return Promise.all(bodies)
}
