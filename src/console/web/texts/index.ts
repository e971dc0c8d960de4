/** All that people read, in one language: another one is another object of this type. */
import { account } from './en/account.ts'
import { agents, newToken, wizard } from './en/agents.ts'
import { allowlist } from './en/allowlist.ts'
import { audit } from './en/audit.ts'
import { common } from './en/common.ts'
import { errors } from './en/errors.ts'
import { firstSteps } from './en/first_steps.ts'
import { history } from './en/history.ts'
import { insecure } from './en/insecure.ts'
import { instance } from './en/instance.ts'
import { live } from './en/live.ts'
import { members } from './en/members.ts'
import { notices } from './en/notices.ts'
import { passkeys } from './en/passkeys.ts'
import { policies } from './en/policies.ts'
import { removing } from './en/removing.ts'
import { secrets } from './en/secrets.ts'
import { start } from './en/start.ts'
import { workspaces } from './en/workspaces.ts'

export const texts = {
  account,
  agents,
  allowlist,
  audit,
  insecure,
  instance,
  common,
  errors,
  firstSteps,
  history,
  live,
  members,
  newToken,
  notices,
  passkeys,
  policies,
  removing,
  secrets,
  start,
  wizard,
  workspaces,
}

/** What a code means, and what helps. */
export function helpFor(code: string): { said?: string; help?: string } {
  return texts.errors.byCode[code] ?? {}
}
