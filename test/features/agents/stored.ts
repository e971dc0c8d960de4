/** Contents of the tables, and envelopes sealed the way a client seals them. */
import { asc, eq } from 'drizzle-orm'
import { toBase64 } from '../../../src/core/crypto/encoding.ts'
import { sealTokenEnvelope } from '../../../src/core/crypto/envelope.ts'
import { environmentKey } from '../../../src/core/crypto/secret_value.ts'
import { mintToken, tokenAuth, tokenKeyPair, verifierOf } from '../../../src/core/crypto/token.ts'
import { agents, tokenEnvelopes, tokens } from '../../../src/database/schema/index.ts'
import type { TestApp } from '../../support/app.ts'
import { recordedChanges } from '../../support/audit.ts'
import type { ProjectTeam } from '../../support/project.ts'

/** All agents, tokens, envelopes and audit rows of a workspace. */
export async function storedAgents(app: TestApp, workspaceId: string) {
  const { db } = app.connection
  return {
    agents: await db
      .select()
      .from(agents)
      .where(eq(agents.workspaceId, workspaceId))
      .orderBy(asc(agents.id)),
    tokens: await db
      .select()
      .from(tokens)
      .where(eq(tokens.workspaceId, workspaceId))
      .orderBy(asc(tokens.id)),
    envelopes: await db
      .select()
      .from(tokenEnvelopes)
      .where(eq(tokenEnvelopes.workspaceId, workspaceId))
      .orderBy(asc(tokenEnvelopes.tokenId), asc(tokenEnvelopes.environment)),
    audit: await recordedChanges(app, workspaceId),
  }
}

/** A token that only the client has, in the form sent to the server. */
export function clientMadeToken(kind: 'agt' | 'wkl' = 'agt') {
  const { id, secret, text } = mintToken(kind)
  const { publicKey, privateKey } = tokenKeyPair(id, secret)
  const sent = {
    id,
    verifier: toBase64(verifierOf(tokenAuth(id, secret))),
    public_key: toBase64(publicKey),
  }
  return { id, text, publicKey, privateKey, sent }
}

type Place = { projectId?: string; environment?: string; epoch?: number }

/** The key of an environment sealed to a token, in the form sent to the server. */
export async function envelopeTo(
  team: ProjectTeam,
  { id, publicKey }: { id: string; publicKey: Uint8Array },
  { projectId = team.projectId, environment = 'development', epoch = 1 }: Place = {},
) {
  const place = { workspaceId: team.workspaceId, tokenId: id, projectId, environment, epoch }
  const key = environmentKey(team.workspaceKey, projectId, environment, epoch)
  const envelope = await sealTokenEnvelope(place, publicKey, key)
  return { project_id: projectId, environment, epoch, envelope }
}
