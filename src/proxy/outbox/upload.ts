/** POST /api/internal/audit/logs/, as the person, or as the agent that a segment names (protocol 8). */

import { exchangeJson } from '../../client/http/answer.ts'
import { type Api, ApiError } from '../../client/http/api.ts'
import { getMe } from '../../features/accounts/contract.ts'
import { recordAuditLogs } from '../../features/audit/contract.ts'
import type { Upload } from './delivery.ts'

type Options = {
  server: string
  /** Renews the session when it has expired. */
  api: Api
  /** The session's access token at this moment. */
  access: () => string
  /**
   * Returns the sealed token of a workspace's agent; another one if the last has ended. @throws ApiError `conflict` if
   * the agent no longer exists
   */
  tokenFor(workspaceId: string, agent: string, isAnew: boolean): Promise<string>
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
    await exchangeJson(recordAuditLogs, url, { method: 'POST', headers, body }, TIMEOUT_MS)
  }
  return async ({ workspace_id, agent }, records) => {
    const body = JSON.stringify(records)
    const bearer = async (isAnew: boolean) => {
      if (agent !== null) return tokenFor(workspace_id, agent, isAnew)
      // Any call of the session renews it.
      if (isAnew) await api.call(getMe, {})
      return access()
    }
    try {
      await post(await bearer(false), workspace_id, body)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error
      await post(await bearer(true), workspace_id, body)
    }
  }
}
