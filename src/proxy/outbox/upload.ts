/** POST /api/internal/audit/logs/, as the person, or as the agent that a segment names (protocol 8). */

import { exchange } from '../../client/answer.ts'
import { type Api, ApiError } from '../../client/api.ts'
import { getMe } from '../../features/accounts/contract.ts'
import { recordAuditLogs } from '../../features/audit/contract.ts'
import type { Upload } from './delivery.ts'

type Options = {
  server: string
  /** Renews the session when it has expired. */
  api: Api
  /** The session's access token at this moment. */
  access: () => string
  /** The sealed token of an agent of a workspace. */
  tokenFor(workspaceId: string, agent: string): Promise<string>
}

const TIMEOUT_MS = 10_000

export function openUpload({ server, api, access, tokenFor }: Options): Upload {
  const post = async (bearer: string, workspaceId: string, body: string) => {
    const headers = {
      authorization: `Bearer ${bearer}`,
      'content-type': 'application/json',
      'x-workspace-id': workspaceId,
    }
    const url = `${server}${recordAuditLogs.path}`
    await exchange(recordAuditLogs, url, { method: 'POST', headers, body }, TIMEOUT_MS)
  }
  return async ({ workspace_id, agent }, records) => {
    const body = JSON.stringify(records)
    if (agent !== null) return post(await tokenFor(workspace_id, agent), workspace_id, body)
    try {
      await post(access(), workspace_id, body)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error
      // Any call of the session renews it.
      await api.call(getMe, {})
      await post(access(), workspace_id, body)
    }
  }
}
