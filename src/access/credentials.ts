/** The secrets that a token may name: those of the projects and environments with keys that it was given. */
import { Fault } from '../core/fault.ts'
import { SECRET_NAME } from '../core/names/secret_name.ts'
import type { AccessReader } from './reader.ts'

/** A stored name that does not match was not written by a client. Agents never see it. */
const NAME = new RegExp(`^${SECRET_NAME}$`)

/** The place of a name. The row's other columns are trusted only after its ciphertext opens. */
export type Credential = {
  name: string
  projectId: string
  environment: string
}

/** A token's credentials, all from one policy version. */
export type TokenCredentials = { policyVersion: number; list: Credential[] }

/** @throws Fault `invalid_token` when the token is not live at this moment */
export type ReadCredentials = (tokenId: string) => Promise<TokenCredentials>

/** Proves in one statement that the token is live, and returns the credentials that it may name. */
export function openReadCredentials(read: AccessReader): ReadCredentials {
  return async (tokenId) => {
    const rows = await read<(Credential & { name: string | null; version: number })[]>`
      select s.key as name, s.project_id as "projectId", s.environment,
        w.policy_version::float8 as version
      from tokens t join workspaces w on w.id = t.workspace_id
        left join (token_envelopes e join secrets s on s.workspace_id = e.workspace_id
            and s.project_id = e.project_id and s.environment = e.environment)
          on e.token_id = t.id and e.workspace_id = t.workspace_id and e.epoch = w.epoch
            and (t.project_id is null or t.project_id = e.project_id)
            and (t.environment is null or t.environment = e.environment)
      where t.id = ${tokenId} and t.revoked_at is null
        and (t.expires_at is null or t.expires_at > clock_timestamp())
      order by s.key, s.environment, s.project_id`
    const [first] = rows
    if (!first) throw new Fault('invalid_token')
    return {
      policyVersion: first.version,
      list: rows.filter(({ name }) => name !== null && NAME.test(name)),
    }
  }
}
