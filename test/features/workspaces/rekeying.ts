/** The client's part of a rekey: read everything, and seal all of it again under its own key. */
import { randomBytes } from 'node:crypto'
import { fromBase64, toBase64 } from '../../../src/core/crypto/encoding.ts'
import { sealTokenEnvelope } from '../../../src/core/crypto/envelope.ts'
import {
  environmentKey,
  openSecretValue,
  sealSecretValue,
} from '../../../src/core/crypto/secret_value.ts'
import { listAgentTokens } from '../../../src/features/agents/contract.ts'
import { listSecrets } from '../../../src/features/secrets/contract.ts'
import type { RekeyBody } from '../../../src/features/workspaces/contract.ts'
import { getWorkspace, listMembers } from '../../../src/features/workspaces/contract.ts'
import { envelopeFor } from '../../support/people.ts'
import type { ProjectTeam } from '../../support/project.ts'

export type Rekeying = { workspaceKey: Uint8Array; epoch: number; body: RekeyBody }

/**
 * Prepares the rekey of all members, and of the first project's secrets in its environments; tokens are left
 * out.
 */
export async function prepareRekey(
  team: ProjectTeam,
  environments: readonly string[] = ['development', 'production'],
): Promise<Rekeying> {
  const { workspaceId, projectId, owner } = team
  const params = { workspace_id: workspaceId }
  const { epoch: current } = await owner.api.call(getWorkspace, { params })
  const workspaceKey = new Uint8Array(randomBytes(32))
  const epoch = current + 1
  const people = await owner.api.list(listMembers, { params })
  const members = await Promise.all(
    people.map(async ({ user_id, public_key }) => ({
      user_id,
      encrypted_workspace_key: await envelopeFor(
        { publicKey: fromBase64(public_key) ?? new Uint8Array() },
        { workspaceId, workspaceKey, epoch },
      ),
    })),
  )
  const secrets: RekeyBody['secrets'] = []
  for (const environment of environments) {
    const query = { environment, include: 'value', limit: 500 } as const
    const listed = await owner.api.list(listSecrets, { params: { project_id: projectId }, query })
    for (const { key, value = '', policy } of listed) {
      const place = { projectId, environment, key }
      const oldKey = environmentKey(team.workspaceKey, projectId, environment, current)
      const opened = openSecretValue(oldKey, place, policy, fromBase64(value) ?? new Uint8Array())
      const newKey = environmentKey(workspaceKey, projectId, environment, epoch)
      const plaintext = opened?.reveal() ?? new Uint8Array()
      const sealed = toBase64(sealSecretValue(newKey, place, policy, epoch, plaintext))
      secrets.push({ project_id: projectId, environment, key, value: sealed, policy })
    }
  }
  return { workspaceKey, epoch, body: { epoch, members, tokens: [], secrets } }
}

/** The entry that gives a token the new key of one environment. */
export async function grantFor(
  { workspaceId, projectId }: ProjectTeam,
  { workspaceKey, epoch }: Pick<Rekeying, 'workspaceKey' | 'epoch'>,
  { tokenId, publicKey }: { tokenId: string; publicKey: Uint8Array },
  environment: string,
): Promise<RekeyBody['tokens'][number]> {
  const place = { workspaceId, tokenId, projectId, environment, epoch }
  const key = environmentKey(workspaceKey, projectId, environment, epoch)
  const envelope = await sealTokenEnvelope(place, publicKey, key)
  return {
    token_id: tokenId,
    envelopes: [{ project_id: projectId, environment, epoch, envelope }],
  }
}

/** The only token of an agent, as listed. */
export async function tokenOf({ workspaceId, owner }: ProjectTeam, registrationId: string) {
  const params = { workspace_id: workspaceId, registration_id: registrationId }
  const [token] = await owner.api.call(listAgentTokens, { params })
  return token
}
